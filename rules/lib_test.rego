package gpulint.lib_test

import data.gpulint.lib

test_list if {
	lib.list([], 2) == ""
	lib.list(["a"], 2) == "a"
	lib.list(["a", "b"], 2) == "a and b"
	lib.list(["a", "b", "c"], 3) == "a, b and c"
	lib.list(["a", "b", "c", "d"], 2) == "a, b and 2 more"
}

test_parts_compare_as_numbers if {
	lib.parts("535.161.08") == [535, 161, 8]
	lib.parts("535.161.08") > lib.parts("535.54.03")
	lib.parts("565.00") == [565, 0]
	lib.parts("100.20") == [100, 20]
}

test_parts_of_other_text if {
	every text in ["", "535", "unknown", "535.x", "535.161.08-0ubuntu1", "1.2.3.4.5.6"] {
		not lib.parts(text)
	}
}

test_sentence if {
	lib.sentence("package a brings b") == "Package a brings b."
	lib.sentence("/usr/lib/a is b") == "/usr/lib/a is b."
}

test_strings if {
	lib.strings(null) == []
	lib.strings("x") == []
	lib.strings(["a", 1, "b"]) == ["a", "b"]
}
