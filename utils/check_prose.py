#!/usr/bin/env python3
"""check_prose.py [PAGE.md ...]: no sentence of a page is longer than 25 words.

Looks at prose only: code blocks, tables, headings and HTML comments do not count, and `code` in a
sentence is one word. Without arguments it checks every page of the repository but those that are
generated from sources with rules of their own, and those of TO_DO, which are still to be rewritten. A
page of TO_DO that has become clean is an error, too, so that the list only gets shorter.
"""

import re
import sys

from markdown import CODE_SPAN, pages, paragraphs, read

LONGEST = 25

# Pages that are made by programs whose sources have rules of their own.
GENERATED = ("docs/dialects/", "docs/targets.md", "docs/onnx-operators.md", "docs/caffe-layers.md",
             "docs/tflite-operators.md",
             "docs/fuzzed-networks.md", "docs/fuzzed-files.md")

# Pages that were written before this rule: none is left.
TO_DO = ()

# What ends in a full stop and is no end of a sentence.
SHORT_FORMS = re.compile(r"\b(?:e\.g|i\.e|cf|vs|etc|approx|Fig|No|St)\.$")
# A sentence ends at its mark, with brackets and quotes that close behind it. Three dots are no mark.
END = re.compile(r"(?<!\.\.)[.!?][)\"'*_]*\s+(?=\S)")
LINK = re.compile(r"!?\[([^]]*)\](?:\([^)]*\)|\[[^]]*\])")
WORD = re.compile(r"[A-Za-z0-9]")


def sentences(paragraph):
    """The sentences of a paragraph, each with `code` as one word and links as their texts."""
    text = LINK.sub(r"\1", CODE_SPAN.sub("Code", paragraph))
    start = 0
    for end in END.finditer(text):
        if not SHORT_FORMS.search(text[start:end.start() + 1]):
            yield text[start:end.end()].strip()
            start = end.end()
    if text[start:].strip():
        yield text[start:].strip()


def number_of_words(sentence):
    return sum(1 for word in sentence.split() if WORD.search(word))


def long_sentences(text):
    """(line of the paragraph, words, sentence) of each sentence that is too long."""
    for line, paragraph in paragraphs(text):
        for sentence in sentences(paragraph):
            words = number_of_words(sentence)
            if words > LONGEST:
                yield line, words, sentence


def main():
    named = sys.argv[1:]
    bad = count = 0
    for path in named or pages():
        if not named and path.startswith(GENERATED):
            continue
        found = list(long_sentences(read(path)))
        if not named and path in TO_DO:
            if not found:
                print(f"{path}: has no long sentence; expected it to leave TO_DO of utils/check_prose.py")
                bad += 1
            continue
        count += 1
        bad += len(found)
        for line, words, sentence in found:
            print(f"{path}:{line}: {words} words, expected at most {LONGEST}: {sentence[:70]}...")
    for path in set(TO_DO) - set(pages()):
        print(f"{path}: is in TO_DO of utils/check_prose.py and does not exist")
        bad += 1
    print(f"{count} pages, {bad} offences")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
