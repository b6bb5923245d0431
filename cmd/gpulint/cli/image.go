package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// imageOptions are the flags of gpulint image.
type imageOptions struct {
	inputs    []string
	refsFile  string
	drivers   []string
	runtime   string
	platforms []string
	base      string

	formats  []string
	output   string
	failOn   string
	sure     bool
	severity string
	anchor   string
	color    string

	ignore      []string
	showIgnored bool
	explain     bool
	verify      bool
	verbose     bool
	quiet       bool
	noProgress  bool
	tmpDir      string
	cacheDir    string
	noCache     bool
	limits      []string
	timeout     time.Duration

	plainHTTP bool
	insecure  bool
	caFile    string
}

func newImage() *cobra.Command {
	o := &imageOptions{}
	cmd := &cobra.Command{
		Use:   "image REF...",
		Short: "Lint container images",
		Long: `Lint images of a registry or of a local Docker, Podman or containerd, or of
files given by --input: an OCI archive, a docker archive (docker save), an OCI
layout directory or a root file system, told apart by their content, or an
archive on standard input.

A reference may say where to look: registry:REF, docker:REF, podman:REF,
containerd:REF, oci-archive:FILE, docker-archive:FILE, oci:DIR, rootfs:DIR.
Without that a local daemon that has the image is asked, and else the registry.
Of an archive or layout every image is linted, or one: oci:DIR:TAG,
oci:DIR@DIGEST, docker-archive:FILE:NAME:TAG.`,
		Example: `  gpulint image nvcr.io/acme/trainer:1.4 --driver 535.161.08
  gpulint image --input image.tar --driver 470.256.02,550.163.01
  docker save app:dev | gpulint image --input -
  gpulint image --input layout/ -f table -f sarif=gpulint.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.inputs, "input", nil, "read the image from this `PATH`: archive, layout or root directory, or - for standard input (repeatable)")
	f.StringVar(&o.refsFile, "refs-file", "", "`FILE` with further references, one a line; - for standard input")
	f.StringSliceVar(&o.drivers, "driver", nil, "judge against these driver `VERSIONS`, such as 535.161.08")
	f.StringVar(&o.runtime, "runtime", "", "how driver files get into containers: legacy, jit-cdi, cdi-runtime, cdi, csv, wsl or gke")
	f.StringSliceVar(&o.platforms, "platform", nil, "`OS/ARCH` to take of an index, or all (default linux/amd64, else the first)")
	f.StringVar(&o.base, "base", "", "`REF` of the base image, a path or of a registry: tells which layers are its own (default: a label, else a guess)")
	f.StringArrayVarP(&o.formats, "format", "f", nil, "`FORMAT[=FILE]`: table, json, sarif, facts or input (repeatable)")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for a single format")
	f.StringVar(&o.failOn, "fail-on", "error", "lowest `LEVEL` that makes the exit status 1: error, warning, note or never")
	f.BoolVar(&o.sure, "fail-on-unknown", false, "exit with status 1 also where a verdict is unknown")
	f.StringVar(&o.severity, "severity", "", "lowest `LEVEL` that is shown: error, warning or note")
	f.StringVar(&o.anchor, "sarif-anchor", "", "`FILE` of the repository on which SARIF results are shown, at line 1")
	f.StringVar(&o.color, "color", "auto", "colour: auto, always or never")
	f.StringSliceVar(&o.ignore, "ignore", nil, "`RULES` to ignore, by ID or name; what they found is counted as ignored")
	f.BoolVar(&o.showIgnored, "show-ignored", false, "show ignored findings too")
	f.BoolVar(&o.explain, "explain", false, "show the reasons of each verdict with the table rows they rest on")
	f.BoolVar(&o.verify, "verify", false, "read every byte and compare every digest")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show all evidence and the causes of errors")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but the report")
	f.BoolVar(&o.noProgress, "no-progress", false, "do not show how far the layers are (shown on a terminal only)")
	f.StringVar(&o.cacheDir, "cache-dir", "", "`DIR` that keeps what was found in layers (default: gpulint in the user's cache directory)")
	f.BoolVar(&o.noCache, "no-cache", false, "neither use nor keep what was found in layers")
	f.StringVar(&o.tmpDir, "tmp-dir", "", "`DIR` for the temporary file that reading rpm's database takes")
	f.StringSliceVar(&o.limits, "limit", nil, "`NAME=N`: a limit of what is read of one layer: entries, layer-bytes, index-bytes or facts (repeatable)")
	f.DurationVar(&o.timeout, "timeout", 0, "give up after this `DURATION`, such as 10m (default: never)")
	f.BoolVar(&o.plainHTTP, "plain-http", false, "use HTTP for the registry")
	f.BoolVar(&o.insecure, "insecure", false, "do not check the registry's TLS certificate")
	f.StringVar(&o.caFile, "ca-file", "", "`FILE` with further certificate authorities (PEM)")
	return cmd
}
