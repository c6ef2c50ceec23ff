"""What check_class_names.py finds. Standard library only."""
import unittest

from check_class_names import classes, find_same_names


class ClassNames(unittest.TestCase):
    def test_full_names(self):
        text = "namespace mete {\nclass A {\n  struct Inner {\n  };\n};\nnamespace {\nstruct Hidden {\n};\n}  // namespace\n" \
               "template <class T>\nstruct B : A {\n};\nclass Declared;\n}  // namespace mete\n"
        self.assertEqual(classes(text), ["mete::A", "mete::B"])

    def test_two_definitions_are_found(self):
        text = "namespace mete {\nstruct A {\n"
        [problem] = find_same_names({"src/a.h": text, "src/b.h": text, "src/c.h": text.replace("mete", "other")})
        self.assertIn("mete::A is defined in src/a.h and src/b.h", problem)

    def test_the_stand_in_of_a_library_is_no_second_definition(self):
        text = "namespace mete {\nstruct A {\n"
        self.assertEqual(find_same_names({"src/x/loaded/a.h": text, "src/x/without/a.cc": text}), [])


if __name__ == "__main__":
    unittest.main()
