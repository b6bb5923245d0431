package gpulint.GPU103_test

import data.gpulint.GPU103

empty := {
	"id": "driver_files/0",
	"key": "/usr/lib/x86_64-linux-gnu/libcuda.so.<RM>",
	"evidence": [],
	"class": "empty",
	"package": null,
	"names": ["libcuda.so"],
	"paths": ["/usr/lib/x86_64-linux-gnu/libcuda.so.418.56"],
	"driver": {"text": "418.56", "parts": [418, 56]},
	"on_linker_path": true,
	"bytes": 0,
}

findings(c) := fs if {
	fs := GPU103.deny with input as {"driver_files": [c], "targets": []}
}

test_deny_left_over_is_warning if {
	some f in findings(empty)
	f.level == "warning"
	contains(f.msg, "/usr/lib/x86_64-linux-gnu/libcuda.so.418.56 is an empty file")
	f.predicted == "ldconfig: File /usr/lib/x86_64-linux-gnu/libcuda.so.418.56 is empty, not checked."
}

test_deny_opened_name_is_error if {
	some f in findings(object.union(empty, {
		"paths": ["/usr/lib/x86_64-linux-gnu/libcuda.so.1"],
		"driver": null,
		"opened": true,
	}))
	f.level == "error"
	f.predicted == "libcuda.so.1: file too short"
}

test_allow_library if {
	count(findings(object.union(empty, {"class": "library"}))) == 0
}

test_allow_deleted if {
	count(findings(object.union(empty, {"class": "shadowed"}))) == 0
}

test_allow_foreign_documents if {
	every doc in [{}, "x", {"driver_files": [{"class": "empty"}]}] {
		count(GPU103.deny) == 0 with input as doc
	}
}
