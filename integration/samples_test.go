//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// A samples toolkit is NVIDIA's assembler and packer of one release.
type samplesToolkit struct {
	name             string
	ptxas, fatbinary realFile
	ptx              string // the newest PTX that it reads
	targets          []string
	// made is what its cubins say of it.
	made string
	// modes are the options that say how fatbinary compresses, by what is seen
	// then of cubins and of PTX.
	modes map[string][2]string
}

func nvcc13(program string) realFile {
	return realFile{"pypi", "nvidia-cuda-nvcc", "13.5.37", "", "nvidia/cu13/bin/" + program}
}

var samplesToolkits = []samplesToolkit{
	{
		name: "12.4", ptxas: toolkit124("ptxas"), fatbinary: toolkit124("fatbinary"), ptx: "8.4",
		targets: []string{"sm_50", "sm_70", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"},
		modes:   map[string][2]string{"": {"", "lz4"}, "--compress=false": {"", ""}, "--compress-all": {"lz4", "lz4"}},
	},
	{
		name: "13.5", made: " of [13.5]", ptxas: nvcc13("ptxas"), fatbinary: nvcc13("fatbinary"), ptx: "9.0",
		targets: []string{
			"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103", "sm_103a", "sm_103f",
			"sm_110", "sm_120", "sm_120a", "sm_120f", "sm_121",
		},
		modes: map[string][2]string{
			"": {"", "zstd"}, "--compress-mode=none": {"", ""}, "--compress-mode=size": {"zstd", "zstd"}, "--compress-mode=speed": {"", "lz4"},
			"--compress-mode=balance": {"", "zstd"}, "--compress-mode=default": {"", "zstd"}, "--compress-all": {"zstd", "zstd"},
		},
	},
}

// TestSamples builds device code for each target with NVIDIA's own tools and
// reads it back: bare cubins and PTX, and containers of each compression.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, tk := range samplesToolkits {
		t.Run(tk.name, func(t *testing.T) {
			t.Parallel()
			tools := realFiles(t, tk.ptxas, tk.fatbinary)
			dir := t.TempDir()
			tool := func(name string, args ...string) {
				t.Helper()
				cmd := exec.Command(name, args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
				}
			}
			rootfs := filepath.Join(dir, "rootfs")
			if err := os.Mkdir(rootfs, 0o755); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			var images []string
			for _, target := range tk.targets {
				ptx := fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n.visible .entry kernel_%s()\n{\nret;\n}\n", tk.ptx, target, target)
				if err := os.WriteFile(filepath.Join(rootfs, target+".ptx"), []byte(ptx), 0o600); err != nil {
					t.Fatal(err)
				}
				tool(tools[0], "-arch="+target, "rootfs/"+target+".ptx", "-o", "rootfs/"+target+".cubin")
				tool(tools[0], "-c", "-arch="+target, "rootfs/"+target+".ptx", "-o", "rootfs/"+target+".rdc")
				want["/"+target+".ptx"] = "unplaced bare " + entryText("ptx", target, tk.ptx, "")
				want["/"+target+".cubin"] = "unplaced bare " + entryText("sass", target, "", "") + tk.made
				want["/"+target+".rdc"] = want["/"+target+".cubin"]
				images = append(images, "--image3=kind=elf,sm="+strings.TrimPrefix(target, "sm_")+",file=rootfs/"+target+".cubin")
			}
			last := tk.targets[len(tk.targets)-1]
			images = append(images, "--image3=kind=ptx,sm="+strings.TrimPrefix(last, "sm_")+",file=rootfs/"+last+".ptx")
			for mode, compression := range tk.modes {
				name := "all" + strings.NewReplacer("-", "_", "=", "_").Replace(mode) + ".fatbin"
				args := append([]string{"--64", "--create=rootfs/" + name}, images...)
				if mode != "" {
					args = append([]string{mode}, args...)
				}
				tool(tools[1], args...)
				words := []string{"unplaced", entryText("ptx", last, tk.ptx, compression[1])}
				for _, target := range tk.targets {
					words = append(words, entryText("sass", target, "", compression[0]))
				}
				want["/"+name] = strings.Join(words, " ") + tk.made
			}
			// PTX is the first entry, or else a cubin is asked for names.
			want["/libsample.so"] = "1 kernels in [0]; " + strings.Replace(want["/all.fatbin"], "unplaced", "loadable", 1)
			code, err := os.ReadFile(filepath.Join(rootfs, "all.fatbin"))
			if err != nil {
				t.Fatal(err)
			}
			lib := testimage.ELF{SONAME: "libsample.so", Sections: []testimage.Section{{Name: ".nv_fatbin", Data: code}}}.Bytes()
			if err := os.WriteFile(filepath.Join(rootfs, "libsample.so"), lib, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, found := lint(t, "--input", "rootfs:"+rootfs)
			got := map[string]string{}
			for _, b := range found.Binaries {
				got[b.Path] = codeText(b.DeviceCode)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// entryText writes an entry as codeText does.
func entryText(kind, target, ptx, compression string) string {
	if kind == "ptx" {
		target = "compute_" + strings.TrimPrefix(target, "sm_")
	}
	return strings.TrimRight(strings.Join([]string{kind, target, ptx, compression}, ":"), ":")
}

// codeText writes device code on one line.
func codeText(d *facts.DeviceCode) string {
	var sets []string
	for _, s := range d.Sets {
		words := []string{s.Place}
		if s.Bare {
			words = append(words, "bare")
		}
		for _, e := range s.Entries {
			words = append(words, entryText(e.Kind, strings.Replace(e.Arch, "compute_", "sm_", 1), e.PTX, e.Compression))
		}
		sets = append(sets, strings.Join(words, " "))
	}
	for _, k := range d.Kernels {
		sets = append(sets, fmt.Sprintf("%d kernels in %v", k.Count, k.Sets))
	}
	slices.Sort(sets)
	text := strings.Join(sets, "; ")
	if len(d.Toolkits) > 0 {
		text += fmt.Sprint(" of ", d.Toolkits)
	}
	return text
}
