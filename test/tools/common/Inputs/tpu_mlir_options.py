"""Every option that TPU-MLIR's programs have is known to ours: it does something, is accepted with a note, or is
refused with a line that says that it is not available yet. None is unknown. Prints how many of each."""

import collections
import subprocess

# As the programs of release 1.27 have them. Those before the bar take a value.
OPTIONS = {
    "model_transform": """model_name model_def model_extern model_data input_shapes input_types output_names
        test_input test_result tolerance excepts add_postprocess onnx_sim dump_final_opt mlir patterns_count
        dynamic_shape_input_names shape_influencing_input_names path_yaml op_custom_shape replace_topk_indices
        resize_dims keep_ratio_mode mean scale pixel_format channel_format pad_value pad_type preprocess_list
        yuv_type | cache_skip debug dynamic not_inference enable_maskrcnn keep_aspect_ratio""",
    "run_calibration": """dataset data_list input_num cali_method search inference_num bc_inference_num tune_list
        tune_num histogram_bin_num expected_cos min_layer_cos max_float_layers chip processor fp_type post_process
        global_compare_layers transformer quantize_method_list benchmark_method part_quantize custom_operator
        mix_mode pre_qtable quantize_table calibration_table debug_cmd | sq we bc smc kurtosis_analysis
        part_asymmetric fast cluster debug_log""",
    "model_deploy": """mlir chip processor quantize model calibration_table quantize_table q_group_size
        quant_input_list quant_output_list test_input test_reference tolerance excepts customization_format
        num_device num_core group_by_cores opt layer_group_config shape_secs_search_strategy addr_mode same_addr
        use_rewriter_config log_level lg_debugger trunc_final model_version iomem_set compress_mode gelu_mode
        time_fixed_subnet subnet_params patterns_count debug_cmd | asymmetric q_symmetric quant_input quant_output
        quant_output_bf16 high_precision ignore_f16_overflow compare_all skip_validation cache_skip fazzy_match
        cuda fuse_preprocess aligned_input dynamic disable_structure_detect_opt disable_layer_group
        disable_gdma_check not_gen_bmodel debug op_divide merge_weight do_winograd includeWeight
        matmul_perchannel opt_post_processor enable_maskrcnn io_alone""",
    "model_runner": "input model weight output decrypt_lib | dump_all_tensors debug out_fixed cuda",
}
REFUSED = "is not available yet"


def kind_of(tool, option, takes_value):
    # The unknown option behind it ends the run in any case.
    command = [tool, "--" + option, *(["0"] if takes_value else []), "--no_such_option_at_all"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1, (command, done)
    if REFUSED in done.stderr:
        return "refused"
    assert "unknown option '--no_such_option_at_all'" in done.stderr, (command, done.stderr)
    return "known"


for tool, text in OPTIONS.items():
    with_value, flags = (part.split() for part in text.split("|"))
    kinds = collections.Counter(kind_of(tool, name, True) for name in with_value)
    kinds.update(kind_of(tool, name, False) for name in flags)
    print(f"{tool}: {kinds['known']} known, {kinds['refused']} refused")
