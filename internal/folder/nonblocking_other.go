//go:build !unix

package folder

// nonBlocking is not needed where named pipes are no files.
const nonBlocking = 0
