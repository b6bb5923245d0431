// Package compat judges CUDA against drivers: which driver version has which
// CUDA version, which runtimes run on it, and with which error the others
// fail. The tables in data are NVIDIA's published ones, each row with its
// source and how sure it is; the functions are pure.
package compat
