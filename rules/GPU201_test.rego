package gpulint.GPU201_test

import data.gpulint.GPU201

verdict := {
	"id": "verdicts/0",
	"key": "cudart 12",
	"evidence": [],
	"cuda": {"text": "12.4", "parts": [12, 4]},
	"level": "incompatible",
	"code": 35,
	"text": "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version",
	"targets": ["a100", "t4"],
	"drivers": ["450.80.02", "470.256.02"],
	"native": "550.54.14",
	"minor": "525.60.13",
	"confidence": "high",
	"reasons": [],
}

findings(c) := fs if {
	fs := GPU201.deny with input as {"verdicts": [c], "targets": []}
}

test_deny_incompatible if {
	some f in findings(verdict)
	f.level == "error"
	f.code == 35
	f.targets == ["a100", "t4"]
	startswith(f.msg, "CUDA 12.4 does not run on driver 450.80.02 and 470.256.02 (a100 and t4): it needs driver 525.60.13 or later, and 550.54.14 or later for all its features.")
	startswith(f.predicted, "cudaErrorInsufficientDriver")
	contains(f.fix, "upgrade the driver of a100 and t4 to 525.60.13 or later")
	contains(f.fix, "cuda-compat-12-4")
}

test_deny_low_confidence_is_warning if {
	some f in findings(object.union(verdict, {"confidence": "low"}))
	f.level == "warning"
	contains(f.msg, "The sources for this are weak")
}

test_deny_without_details if {
	some f in findings(object.remove(
		object.union(verdict, {"cuda": {"text": "13", "parts": [13]}, "targets": ["470.256.02"], "drivers": ["470.256.02"]}),
		["code", "text", "native", "minor"],
	))
	f.code == 35
	startswith(f.msg, "CUDA 13 does not run on driver 470.256.02. The container starts")
	contains(f.predicted, "insufficient")
	not contains(f.fix, "cuda-compat")
}

test_allow_other_levels if {
	every level in ["native", "minor", "forward", "unknown"] {
		count(findings(object.union(verdict, {"level": level}))) == 0
	}
}

test_allow_no_verdicts if {
	count(GPU201.deny) == 0 with input as {"verdicts": [], "targets": [{"name": "a", "driver": "470.256.02"}]}
}

test_allow_foreign_documents if {
	every doc in [{}, {"verdicts": [1, {"level": "incompatible"}, {"level": "incompatible", "id": "x", "cuda": "12"}]}] {
		count(GPU201.deny) == 0 with input as doc
	}
}
