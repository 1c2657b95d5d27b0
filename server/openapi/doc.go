// Package openapi describes an HTTP API: as an OpenAPI 3.1 document for programs ([Document]), and
// as a page for people ([Page]). Both are made from the same operations, so neither can describe
// what the other does not.
package openapi
