package gpulint.GPU211_test

import data.gpulint.GPU211

statement(where, text, parts) := {"where": where, "cuda": {"text": text, "parts": parts}}

findings(statements) := fs if {
	fs := GPU211.deny with input as {"version_drift": [{
		"id": "version_drift/0",
		"key": "cuda",
		"evidence": [],
		"statements": statements,
	}]}
}

test_deny_variable_and_library if {
	some f in findings([
		statement("CUDA_VERSION", "12.2.2", [12, 2, 2]),
		statement("/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127", "12.4.127", [12, 4, 127]),
	])
	f.candidate == "version_drift/0"
	contains(f.msg, "CUDA_VERSION says 12.2.2 and /usr/local/cuda-12.4/lib64/libcudart.so.12.4.127 says 12.4.127")
}

test_deny_many_statements if {
	some f in findings([statement(sprintf("place %d", [i]), "12.4", [12, 4]) | some i in numbers.range(1, 9)])
	contains(f.msg, "and 4 more")
}

test_allow_single_statement if {
	count(findings([statement("CUDA_VERSION", "12.2.2", [12, 2, 2])])) == 0
}

test_allow_no_drift if {
	count(GPU211.deny) == 0 with input as {"version_drift": []}
}

test_allow_foreign_documents if {
	every doc in [{}, {"version_drift": [{"id": "x", "statements": [1, 2, {"where": 1}]}]}] {
		count(GPU211.deny) == 0 with input as doc
	}
}
