package gpulint.GPU108_test

import data.gpulint.GPU108

hidden := {
	"id": "driver_files/0",
	"key": "libnvidia-compute-535",
	"evidence": [],
	"class": "shadowed",
	"package": null,
	"names": ["libcuda.so"],
	"paths": ["/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08"],
	"driver": {"text": "535.161.08", "parts": [535, 161, 8]},
	"on_linker_path": false,
	"bytes": 29453824,
	"shadowed_by": {"index": 3, "size": 120},
	"how": "whiteout",
}

findings(c) := fs if {
	fs := GPU108.deny with input as {"driver_files": [c], "targets": []}
}

test_deny_deleted if {
	some f in findings(hidden)
	contains(f.msg, "/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08 is a file of GPU driver 535.161.08. Layer 3 deletes these bytes, so nothing loads them, but 29.5 MB still ship with the image.")
	contains(f.fix, "deleting in a later layer does not make the image smaller")
}

test_deny_replaced_empty_file if {
	some f in findings(object.union(hidden, {"how": "replaced", "bytes": 0, "shadowed_by": null}))
	contains(f.msg, "A later layer replaces these bytes, so nothing loads them.")
}

test_deny_sizes if {
	some [bytes, text] in [[999, "999 bytes"], [1000, "1 kB"], [999499, "999 kB"], [999500, "1.0 MB"], [1049000, "1.0 MB"], [1050000, "1.1 MB"], [104857600, "104.9 MB"]]
	some f in findings(object.union(hidden, {"bytes": bytes}))
	contains(f.msg, text)
}

test_allow_visible_library if {
	count(findings(object.union(hidden, {"class": "library"}))) == 0
}

test_allow_visible_link if {
	count(findings(object.union(hidden, {"class": "link"}))) == 0
}

test_allow_foreign_documents if {
	every doc in [{}, {"driver_files": [{"class": "shadowed", "id": "x"}]}] {
		count(GPU108.deny) == 0 with input as doc
	}
}
