"""Networks of the zoo that no library has, or not without what is not to be measured. `MODELS` names them all."""

from . import detect, generate, hierarchy, language, mobile, other, segment, signal

MODELS = {name: value for module in (detect, generate, hierarchy, language, mobile, other, segment, signal)
          for name, value in vars(module).items()
          if isinstance(value, type) and value.__module__ == module.__name__}
