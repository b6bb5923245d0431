# METADATA
# title: Statements of the CUDA version disagree
# description: |
#   Finds images in which the variable CUDA_VERSION, labels, the toolkit's
#   version.json and the libraries themselves name different CUDA versions.
#
#   Build scripts, the container toolkit and people believe the variable:
#   extensions are compiled for the wrong version, and the check of the driver at
#   start is made for a CUDA that the programs do not use. It mostly means that
#   a package was upgraded on top of a base image.
# related_resources:
# - ref: https://docs.nvidia.com/deploy/cuda-compatibility/
#   description: NVIDIA's page on which driver a CUDA program needs
# custom:
#   id: GPU211
#   name: cuda-version-drift
#   level: warning
#   needs: [version_drift]
#   predicts: wheels and extensions for another CUDA than the libraries; undefined symbols or a missing libcudart at run time
#   fix: take the base image of the CUDA version that is meant, instead of upgrading CUDA on top of it
#   before: |
#     FROM nvidia/cuda:12.2.2-runtime-ubuntu22.04
#     RUN apt-get update && apt-get install -y cuda-libraries-12-4
#   after: |
#     FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04
#   since: 0.1.0
package gpulint.GPU211

import data.gpulint.lib

deny contains f if {
	some c in input.version_drift
	is_string(c.id)
	said := [sprintf("%s says %s", [s.where, s.cuda.text]) |
		some s in c.statements
		is_string(s.where)
		is_string(s.cuda.text)
	]
	count(said) > 1
	f := {
		"candidate": c.id,
		"msg": sprintf("The image names different CUDA versions: %s. What reads the first is wrong about the libraries that programs load.", [lib.list(said, 5)]),
	}
}
