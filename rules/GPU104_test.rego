package gpulint.GPU104_test

import data.gpulint.GPU104

tool := {
	"id": "driver_files/0",
	"key": "/usr/local/bin/nvidia-smi",
	"evidence": [],
	"class": "tool",
	"package": null,
	"names": ["nvidia-smi"],
	"paths": ["/usr/local/bin/nvidia-smi"],
	"driver": {"text": "535.161.08", "parts": [535, 161, 8]},
	"on_linker_path": false,
	"bytes": 700000,
}

findings(c) := fs if {
	fs := GPU104.deny with input as {"driver_files": [c], "targets": []}
}

test_deny_copied_tool if {
	some f in findings(tool)
	startswith(f.msg, "/usr/local/bin/nvidia-smi is a tool of GPU driver 535.161.08.")
	contains(f.predicted, "Driver/library version mismatch")
	contains(f.fix, "do not copy nvidia-smi")
}

test_deny_package if {
	some f in findings(object.union(tool, {
		"package": {"name": "nvidia-utils-535", "version": "535.161.08-0ubuntu1", "manager": "dpkg"},
		"names": ["nvidia-debugdump", "nvidia-smi"],
		"paths": ["/usr/bin/nvidia-debugdump", "/usr/bin/nvidia-smi"],
	}))
	startswith(f.msg, "Package nvidia-utils-535 535.161.08-0ubuntu1 brings 2 tools of GPU driver 535.161.08 (nvidia-debugdump and nvidia-smi).")
	contains(f.fix, "drop `nvidia-utils-535` from the packages that the image installs")
}

test_deny_other_tool if {
	some f in findings(object.union(tool, {"names": ["nvidia-persistenced"], "driver": null}))
	contains(f.predicted, "nvidia-persistenced")
}

test_allow_library if {
	count(findings(object.union(tool, {"class": "library"}))) == 0
}

test_allow_deleted if {
	count(findings(object.union(tool, {"class": "shadowed"}))) == 0
}

test_allow_foreign_documents if {
	every doc in [{}, 1, {"driver_files": [{"class": "tool", "paths": "x"}]}] {
		count(GPU104.deny) == 0 with input as doc
	}
}
