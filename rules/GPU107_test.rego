package gpulint.GPU107_test

import data.gpulint.GPU107

candidate(p) := {"id": "driver_packages/0", "key": p.name, "evidence": [{"layer": {"created_by": "RUN apt-get update && dnf -y install x # buildkit"}}], "package": p, "layer": {"index": 1, "size": 5}}

findings(p) := fs if {
	fs := GPU107.deny with input as {"driver_packages": [candidate(p)], "targets": []}
}

test_deny_driver_package if {
	some f in findings({"name": "nvidia-driver-535", "version": "535.161.08-0ubuntu1", "manager": "dpkg"})
	f.candidate == "driver_packages/0"
	startswith(f.msg, "Package nvidia-driver-535 535.161.08-0ubuntu1 belongs to the GPU driver")
	contains(f.fix, "drop `nvidia-driver-535` from the apt-get install")
}

test_deny_pulled_in_by_cuda if {
	some f in findings({"name": "cuda-drivers", "version": "550.54.15-1", "manager": "dpkg", "pulled_by": ["cuda-12-4", "cuda-runtime-12-4"]})
	contains(f.msg, "(pulled in by cuda-12-4 and cuda-runtime-12-4)")
	contains(f.fix, "by `cuda-libraries-12-4` (to run) or `cuda-toolkit-12-4` (to compile)")
}

test_deny_metapackage_without_version if {
	some f in findings({"name": "cuda-drivers", "version": "550.54.15-1", "manager": "rpm", "pulled_by": ["cuda"]})
	contains(f.fix, "replace `cuda` in the dnf install by `cuda-libraries-<major>-<minor>`")
}

test_deny_pulled_in_by_debian_toolkit if {
	some f in findings({"name": "libcuda1", "version": "535.261.03-1", "manager": "dpkg", "pulled_by": ["libcuinj64-11.8", "nvidia-cuda-dev"]})
	contains(f.fix, "keep `")
	contains(f.fix, "build stage")
}

test_deny_pulled_in_by_other if {
	some f in findings({"name": "libcuda1", "version": "535.261.03-1", "manager": "dpkg", "pulled_by": ["hashcat"]})
	contains(f.fix, "leave `hashcat` out of the apt-get install")
}

# Nothing is claimed of a command that the instruction does not show.
test_deny_unknown_installer if {
	p := {"name": "nvidia-driver-535", "version": "535.161.08-0ubuntu1", "manager": "dpkg"}
	every evidence in [[], [{"layer": null}], [{"layer": {"created_by": "COPY rootfs / # aptitudes"}}], [{"layer": {"created_by": "bazel build //:app"}}]] {
		some f in GPU107.deny with input as {"driver_packages": [object.union(candidate(p), {"evidence": evidence})]}
		startswith(f.fix, "drop `nvidia-driver-535` from the packages that the image installs:")
	}
}

test_deny_of_base_image if {
	p := {"name": "nvidia-driver-535", "version": "535.161.08-0ubuntu1", "manager": "dpkg"}
	c := object.union(candidate(p), {"evidence": [{"layer": {"origin": "base", "created_by": "RUN apt-get install x"}}]})
	some sure in GPU107.deny with input as {"subject": {"base": {"how": "reference"}}, "driver_packages": [c]}
	startswith(sure.fix, "the base image brings it: take one without it, or in its Dockerfile drop `nvidia-driver-535` from the apt-get install")
	some guess in GPU107.deny with input as {"subject": {"base": {"how": "heuristic"}}, "driver_packages": [c]}
	startswith(guess.fix, "if it comes with the base image, as the history suggests, take one without it; else drop `nvidia-driver-535`")
}

test_allow_no_packages if {
	count(GPU107.deny) == 0 with input as {"driver_packages": [], "targets": []}
}

test_allow_driver_files_only if {
	count(GPU107.deny) == 0 with input as {"driver_files": [{"id": "x", "class": "library", "paths": ["/a"]}]}
}

test_allow_foreign_documents if {
	every doc in [{}, null, {"driver_packages": [1, {"id": "x"}, {"id": "x", "package": {"name": 1, "version": 2}}]}] {
		count(GPU107.deny) == 0 with input as doc
	}
}
