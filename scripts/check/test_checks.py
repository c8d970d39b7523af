#!/usr/bin/env python3
"""The checks can fail: each rule of them is broken here by hand, and is noticed."""
import pathlib
import tempfile
import unittest

import decisions
import kinds
import names
import recipes
import spelling

CODE = """namespace esi {
/// look_at( is named here only.
result<view> observe(const caches& of) { return look(of); }
void actor::swap(int slot) {
    return judge(slot);
}
struct decision {};
}
"""


class with_a_tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("operators/x/decide.cpp", CODE)
        self.write("docs/design/time.md", "# Time\n\n## What `Date` says, in short\n\n## Twice\n\n## Twice\n")
        self.write("Makefile", "check: setup ## all\n\t@true\nsetup:\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def wrong(self, text, name="docs/page.md"):
        self.write(name, text)
        return names.check(self.root)

    def is_right(self, text, name="docs/page.md"):
        self.assertEqual(self.wrong(text, name), [])

    def is_wrong(self, text, words, name="docs/page.md"):
        wrong = self.wrong(text, name)
        self.assertEqual(len(wrong), 1, wrong)
        self.assertIn(words, wrong[0])
        self.assertIn(name, wrong[0])


class names_of_documents(with_a_tree):
    def test_files_and_folders(self):
        self.is_right("`operators/x/decide.cpp`, `operators/x/`, `x/decide.cpp`, `operators/x/{decide,decide}.cpp`, "
                      "`operators/NAME/*.cpp`, `operators/x/decide`, `spec.slots`, `/metrics`, `a/b`, `build/release/x.cpp`")
        self.is_wrong("the file `operators/x/act.cpp`", "`operators/x/act.cpp` does not exist")
        self.is_wrong("the folder `operators/y/`", "`operators/y/` does not exist")
        self.is_wrong("one is missing: `operators/x/{decide,act}.cpp`", "does not exist")
        self.is_wrong("```sh\noperators/x/run.sh now\n```\n", "operators/x/run.sh does not exist")

    def test_functions(self):
        self.is_right("`operators/x/decide.cpp` `observe` then `operators/x/decide.cpp` `actor::swap` and "
                      "`x/decide.cpp` `decision`, `anything`")
        self.is_wrong("`operators/x/decide.cpp` `act`", "no such function")
        self.is_wrong("**`operators/x/decide.cpp`** `act`", "no such function")
        self.is_wrong("- in `operators/x/decide.cpp`\n  `act` it", "no such function")
        self.is_right("- in `operators/x/decide.cpp`\n- `act`, and `operators/x/decide.cpp`,\n`act`")
        self.is_wrong("only called: `operators/x/decide.cpp` `look`", "no such function")
        self.is_wrong("only called: `operators/x/decide.cpp` `judge`", "no such function")
        self.is_wrong("only in a comment: `operators/x/decide.cpp` `look_at`", "no such function")
        self.is_wrong("of another class: `operators/x/decide.cpp` `observer::swap`", "no such function")

    def test_links_and_anchors(self):
        self.is_right("[a](design/time.md) [b](design/time.md#what-date-says-in-short) [c](#here) "
                      "[d](https://example.org/x#y) [e](design/time.md#twice-1) `[f](no.md)`\n# Here\n"
                      "```\n[g](no.md)\n```\n")
        self.is_wrong("[a](design/space.md)", "there is no docs/design/space.md")
        self.is_wrong("[a](design/time.md#space)", "no heading #space")
        self.is_wrong("# Here\n[a](#there)", "no heading #there")

    def test_make_targets(self):
        self.is_right("`make check`, `make check setup`, and to make nothing; `KEEP=1 make setup`")
        self.is_wrong("`make chekc`", "no such target")
        self.is_wrong("```sh\nmake setup && make demo   # make sure\n```", "make demo")

    def test_mutations_and_kept_plans(self):
        self.write("integration-tests/simulation/mutations/list/a-b.mutation", "")
        self.write("integration-tests/simulation/cases/c.json", "")
        self.is_right("mutation `a-b`; Mutations `a-b`, `a-b` and `a-b`; kept plan `c`; the mutation of `z`")
        self.is_wrong("mutations `a-b`, `c`", "mutation `c`: there is no")
        self.is_wrong("kept plan `a-b`", "kept plan `a-b`: there is no")

    def test_tables_of_a_readme(self):
        self.is_right("| file | idea |\n|---|---|\n| decide | x |\n| `decide.cpp`, `decide` | y |\n"
                      "\n| word | idea |\n|---|---|\n| nothing | x |\n", "operators/x/README.md")
        self.is_wrong("| file | idea |\n|---|---|\n| decide, act | x |\n", "act is in a table", "operators/x/README.md")

    def test_citations_in_other_files(self):
        self.is_right("source: docs/design/time.md#twice", "list/a.mutation")
        self.is_wrong("source: docs/design/time.md#thrice", "no such heading", "list/a.mutation")
        self.is_wrong("// docs/design/space.md", "does not exist", "list/a.mutation")


class texts_in_decisions(with_a_tree):
    def test_codes_may_be_read(self):
        for line in ('if (condition.reason == reasons::not_allowed) return;',
                     'if (slot.state == "ERROR" || keys.contains(key)) return;',
                     'if (name.starts_with("esi-") && text.empty()) return;',
                     'status.message = "waits for " + name;',
                     'if (known.note != nullptr) x(known.text());',
                     'set("Completed", false, "NotStarted", "no job has ended");',
                     'x();  // if (a.message == b.message)',
                     'if (told->second == what.text) return;'):
            self.assertEqual(list(decisions.faults(line)), [], line)

    def test_texts_may_not(self):
        for line in ('if (a.message == b.message) return;',
                     'if (found->message != text) return;',
                     'if (text == found->message) return;',
                     'if (a.message.starts_with(prefix)) return;',
                     'if (status.waiting_for.contains(name)) return;',
                     'if (problem.starts_with("the node ")) return;',
                     'if (texts.contains("the node is gone")) return;',
                     'if (why == "is not ready") return;',
                     'if (status.problems.front().find("node") != npos) return;',
                     'if (at.find("no room") == std::string::npos) return;'):
            self.assertEqual(len(list(decisions.faults(line))), 1, line)

    def test_the_files_that_decide_are_found(self):
        self.assertEqual(decisions.check(self.root), [])
        self.write("operators/x/decide.cpp", 'if (a.message == b.message) return;\n')
        self.write("operators/x/decide_test.cpp", 'if (a.message == b.message) return;\n')
        self.write("operators/x/interface/view.cpp", 'if (a.message == b.message) return;\n')
        self.assertEqual(decisions.check(self.root),
                         ["operators/x/decide.cpp:1: compares a text; a decision goes by codes"])
        self.write("operators/y/act.cpp", "")
        self.assertIn("operators/y: has no decide.cpp", decisions.check(self.root)[0])


class kinds_of_application(with_a_tree):
    def setUp(self):
        super().setUp()
        rows = "".join(f"""    application_kind{{.type = "{name}",
                     .spec_field = "{name.lower()}Spec",
                     .spec = &batchjob_spec::{name.lower()}_spec,
                     .definition = "{name.lower()}.example.com"}},\n""" for name in ("Spark", "Ray"))
        self.write(kinds.TABLE, "inline constexpr std::array application_kinds{\n" + rows + "};\n")
        self.write(kinds.PAGE, 'const jobTypes = { sparkSpec: "Spark", raySpec: "Ray" };\n')
        for name in kinds.EXCEPTIONS:
            if name not in (kinds.TABLE, kinds.PAGE):
                self.write(name.replace("/*", "/x.cpp", 1) if name.count("*") == 1 else name.replace("*/*", "x/x.cpp"), "of.ray_spec;\n")

    def finds(self, line, count, name="operators/y/z.cpp"):
        self.write(name, line + "\n")
        wrong = kinds.check(self.root)
        self.assertEqual(len(wrong), count, wrong)
        for each in wrong:
            self.assertIn(name, each)

    def test_no_other_file_names_them(self):
        for line in ("job.spec.ray_spec", "&batchjob_spec::ray_spec", "job->spec.spark_spec", 'f("spec.raySpec")', '"Ray"',
                     '"spark.example.com"'):
            self.finds(line, 1)
        for line in ("// such as raySpec", "namespace ray_spec {", '"a job of Ray"', "spec.*kind.spec"):
            self.finds(line, 0)
        self.finds("job.spec.ray_spec", 0, "operators/y/z_test.cpp")
        self.finds("job.spec.ray_spec", 0, "operators/batchjob/backends/ray/kind.cpp")

    def test_the_page_has_the_same_list(self):
        self.finds('const jobTypes = { sparkSpec: "Spark" };', 1, kinds.PAGE)

    def test_an_exception_that_is_not_needed_goes(self):
        self.write("operators/batchjob/driver_jobs.cpp", "")
        self.assertIn("driver_jobs.cpp names no kind any more", kinds.check(self.root)[0])


SAMPLE = """diff --git a/operators/x/decide.cpp b/operators/x/decide.cpp
--- a/operators/x/decide.cpp
+++ b/operators/x/decide.cpp
@@ -5 +5,2 @@ void actor::swap(int slot) {
 void actor::swap(int slot) {
+    if (slot > 7) return;
     return judge(slot);
diff --git a/operators/x/seven.h b/operators/x/seven.h
new file mode 100644
--- /dev/null
+++ b/operators/x/seven.h
@@ -0,0 +1,1 @@
+inline int seven() { if (true) return 7; }
"""


class samples_of_recipes(with_a_tree):
    def setUp(self):
        super().setUp()
        self.write("scripts/check/recipes/number.patch", SAMPLE.replace("@@ -5 +5,2 @@", "@@ -4,2 +4,3 @@"))
        self.recipe("**`operators/x/decide.cpp`** `swap`, **`operators/x/NAME.h`**, and read `operators/x/act.cpp`")
        self.table("| [a number](number.md) | 2 | 1 | 2 | 1 |")

    def recipe(self, steps):
        self.write("docs/recipes/number.md", f"# Add a number\n\n{steps}\n")

    def table(self, row):
        self.write("docs/recipes/README.md", f"{recipes.HEAD}\n|---|---|---|---|---|\n{row}\n")

    def says(self, *words):
        wrong = recipes.check(self.root)
        self.assertEqual(len(wrong), len(words), wrong)
        for line, word in zip(wrong, words):
            self.assertIn(word, line)

    def test_all_is_well(self):
        self.says()
        self.recipe("**`operators/x/{decide.cpp,seven.h}`**")
        self.says()
        self.recipe("**`operators/x/*.cpp`**, **`operators/x/*.h`**")
        self.says()

    def test_what_the_recipe_lacks(self):
        self.recipe("**`operators/x/NAME.h`**")
        self.says("lacks operators/x/decide.cpp, which the sample changes")
        self.recipe("**`operators/x/decide.cpp`**, `operators/x/NAME.h`")
        self.says("lacks operators/x/seven.h, which the sample makes")

    def test_what_the_sample_lacks(self):
        self.recipe("**`operators/x/{decide,act}.cpp`**, **`operators/x/NAME.h`**")
        self.says("has operators/x/act.cpp in bold, which the sample does not touch")

    def test_a_sample_that_does_not_apply(self):
        self.write("operators/x/decide.cpp", CODE.replace("    return judge", "    look();\n    return judge"))
        self.says("number.md: its sample does not apply at operators/x/decide.cpp:4: the recipe or its sample is out of date")

    def test_a_sample_applies_where_its_place_has_moved(self):
        self.write("operators/x/decide.cpp", "// One line\n// more.\n" + CODE)
        self.says()

    def test_the_table_of_counts(self):
        self.table("| [a number](number.md) | 2 | 1 | 2 | 0 |")
        self.says("lacks the line | [a number](number.md) | 2 | 1 | 2 | 1 |")

    def test_each_has_the_other(self):
        self.write("docs/recipes/letter.md", "# Add a letter\n")
        self.write("scripts/check/recipes/word.patch", SAMPLE)
        self.says("docs/recipes/letter.md: has no sample", "word.patch: there is no recipe of that name")

    def test_a_row_or_a_function_is_no_branch(self):
        for lines, branch in (('+    {"a", 7},\n', False), ("+int seven(int of) {\n+    if (of) return 7;\n+}\n", False),
                              ("+        case 7:\n", True), ("+    x = a ? b : c;\n", True), ("+    // if\n", False),
                              ("-    if (a) b();\n+    b();\n", False)):
            self.assertEqual(recipes.adds_a_branch(lines), branch, lines)


class plain_words(with_a_tree):
    def vague(self, texts):
        return [found for text in texts for found in spelling.vague(text)]

    def test_a_subject_has_a_name(self):
        self.assertEqual(self.vague(spelling.in_page(
            "The leader waits.\n`order-of-nobody` is a name, and so is `a\nnobody`.\n```\nnobody\n```\n")), [])
        self.assertEqual(self.vague(spelling.in_page("It is made anew.\nWhoever writes, waits.\n# Anybody\n")),
                         [(1, "anew"), (2, "Whoever"), (3, "Anybody")])

    def test_words_that_the_glossary_replaces(self):
        for word in ("elder", "heirs", "rival", "pretenders", "misfit", "hindrance", "obstacles"):
            self.assertEqual(self.vague([[(7, f"The {word} waits.")]]), [(7, word)])

    def test_a_relative_clause_is_no_subject(self):
        for line in ("Who writes it waits.", "Whom it meets, it stops.", "Whose end has begun is gone.",
                     "A slot: Who has it waits.", "It has a slot. Whose it is, is decided later.",
                     "What is left is the start of a line.", "What it has grown by since is not enforced.",
                     "What it points to lives as long as the router.", "What cannot be read matches nothing.",
                     "It ends. What has failed counts again.", "Of which one runs.", "Of a claim that is gone.",
                     "Of other callers only the address is known.", "(Of no slice)"):
            self.assertTrue(self.vague([[(1, line)]]), line)

    def test_titles_questions_and_picks_are_right(self):
        for line in ("What an operator needs; outlives it.", "What it reads and writes.",
                     "What the API server may keep, and what it must not.", "What keeps pods that are bound.",
                     "What happens when a process is killed.",
                     "Who may write it? What is it, and who has made it?", "Accounts who may write it.",
                     "Of two patterns the first wins.", "Of claims that wait, the oldest is planned first.",
                     "See what is left, and what is not.", "v1.What is.a.path"):
            self.assertEqual(self.vague([[(1, line)]]), [], line)

    def test_a_sentence_goes_over_lines(self):
        self.assertEqual(self.vague(spelling.in_page("The pod waits.\nIt ends. What is\nleft is read.\n")),
                         [(2, "What is left is read")])
        self.assertEqual(self.vague(spelling.in_page("The pod\nWhat is\n\nleft is read\n- What is\n- left is read\n")), [])

    def test_headings_and_cells_of_pages(self):
        self.assertEqual(self.vague(spelling.in_page("## Who judges\n\n**Who judges.** The rules do.\n")), [])
        self.assertEqual(self.vague(spelling.in_page("| a | Who judges waits | c |\n")), [(1, "Who judges waits")])

    def test_comments_of_sources(self):
        self.assertEqual(self.vague(spelling.in_source(
            'auto a = "nobody // nobody", b = R"(nobody\n// nobody)"; // none\nint nobody = 1\'000;  // x\n'
            "const char c = '\"';  /// It is.\n// What is left of it: nothing\nint x; // is read\n"
            "int y;  // of pods,\n        // Who waits for it or not\n")), [])
        self.assertEqual(self.vague(spelling.in_source(
            "/// The pod waits. What is\n/// left is read.\nint x;  ///< Of no slot\nf(); // for nobody\n"
            "/* Who waits\n * is made anew */\n        // A pod\nint y;  // Of no pod\n")),
            [(1, "What is left is read"), (3, "Of no slot"), (4, "nobody"), (5, "Who waits is made anew"), (6, "anew"),
             (8, "Of no pod")])

    def test_texts_of_crds(self):
        self.assertEqual(self.vague(spelling.in_crd(
            "x:\n  nobody:\n    description: One pod.\n    rule: self.nobody\n    default: anew\n")), [])
        self.assertEqual(self.vague(spelling.in_crd(
            "# For nobody.\nx:\n  description: >-\n    It waits. What is\n    left is read.\n  type: anew\n"
            "  rules:\n  - message: made anew\n    rule: anew\n  - rule: a\n    message: \"Who waits ends\"\n"
            "  y:\n    description: a pod of\n      nobody\n")),
            [(1, "nobody"), (4, "What is left is read"), (8, "anew"), (11, "Who waits ends"), (14, "nobody")])

    def test_texts_of_the_openapi_document(self):
        self.assertEqual(self.vague(spelling.in_document(
            '{"a":{"description":{"type":"nobody"},"summary":"made anew"},"b":[{"description":"Of no pod.",'
            '"example":"nobody"}]}')),
            [("/a/summary", "anew"), ("/b/0/description", "Of no pod")])

    def test_each_kind_of_text_is_read(self):
        places = {"docs/page.md": 1, "README.md": 1, "common/model/a.h": 1, "operators/x/y/a_test.cpp": 1,
                  "helm/esi/files/crds/a.yaml": 1, "docs/openapi.json": "/description"}
        for name in places:
            self.write(name, {"md": "nobody", "yaml": "description: nobody", "json": '{"description":"nobody"}'}.get(
                name.rpartition(".")[2], "// nobody"))
        for name in ("docs/glossary.md", "integration-tests/a.cpp", "operators/x/a.js"):
            self.write(name, "// nobody")
        _, found = spelling.vague_in(self.root)
        self.assertEqual(sorted(each.partition(": ")[0] for each in found),
                         sorted(f"{name}:{place}" for name, place in places.items()))


if __name__ == "__main__":
    unittest.main()
