//go:build !unix

package folder

import "io/fs"

// IsOfVolumeGroup reports false: there are no groups of volumes.
func IsOfVolumeGroup(string, fs.FileInfo) bool { return false }
