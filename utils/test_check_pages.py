#!/usr/bin/env python3
"""Whether check_prose.py and check_links.py find what they are for, and nothing else."""

import unittest

from check_links import broken_links
from check_prose import long_sentences, number_of_words, sentences
from markdown import anchors

WORDS = " ".join(["word"] * 25)

PAGE = f"""# A heading of {WORDS} words

| a table | {WORDS} {WORDS} |
| --- | --- |

```
code {WORDS} {WORDS}
```

<!-- a comment {WORDS}
{WORDS} -->
"""


class Prose(unittest.TestCase):
    def test_counts_words_with_code_and_links_as_one(self):
        self.assertEqual(list(sentences("It is `a b c`. See [the page](x.md)!")), ["It is Code.", "See the page!"])
        self.assertEqual(number_of_words("64 lanes - of 16 KiB"), 5)

    def test_ends_of_sentences(self):
        self.assertEqual(len(list(sentences("Version 1.2.3 of x.md, e.g. This one, ... and more (see there). 3 follow. oneDNN, too."))), 3)

    def test_only_prose_counts(self):
        self.assertEqual(list(long_sentences(PAGE)), [])

    def test_finds_a_long_sentence(self):
        text = PAGE + f"\nShort. A {WORDS}\nand one more. Short.\n"
        self.assertEqual([(line, words) for line, words, _ in long_sentences(text)], [(13, 29)])
        self.assertEqual(list(long_sentences(f"{WORDS}.")), [])

    def test_items_of_lists_are_apart(self):
        self.assertEqual(list(long_sentences(f"- {WORDS}\n- {WORDS}\n  end\n")), [(2, 26, f"{WORDS} end")])


class Links(unittest.TestCase):
    PAGES = {"README.md": "# A page\n", "docs/a.md": "# One `two`: three\n\n## One\n\n## One\n"}

    def broken(self, text, path="docs/b.md"):
        return [line for line, _ in broken_links(path, text, lambda place: place in self.PAGES, self.PAGES.get)]

    def test_good(self):
        self.assertEqual(self.broken("[a](a.md) [b](../README.md#a-page) [c](https://x.org/none) `[d](none.md)`\n"
                                     "[e](a.md#one-two-three) [f](a.md#one-1)\n```\n[g](none.md)\n```\n"), [])

    def test_bad(self):
        self.assertEqual(self.broken("[a](none.md)\n[b](a.md#two)\n[c](../../x.md)\n[d]: none.md\n"
                                     '<img src="none.svg">\n'), [1, 2, 3, 4, 5])

    def test_paths_in_code(self):
        self.assertEqual(self.broken("`docs/a.md` `docs/NAME/a.md` `bin/none` `docs/*.md` `test/none.py --x`\n"), [])
        self.assertEqual(self.broken("\n`docs/none.md`\n"), [2])

    def test_anchor_of_the_page_itself(self):
        self.assertEqual(self.broken("[a](#one)\n[b](#none)\n", "docs/a.md"), [2])

    def test_anchors(self):
        self.assertEqual(anchors("# C++, and `--opt 2`\n## A\n## A\n"), {"c-and---opt-2", "a", "a-1"})


if __name__ == "__main__":
    unittest.main()
