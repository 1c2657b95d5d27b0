package server

import (
	"net/http"

	"github.com/postern-id/postern/internal/directory"
)

// writeResult writes the result of a handler, or returns its error.
func writeResult(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, v)
}

// writeItemResult is writeResult for a resource.
func writeItemResult(w http.ResponseWriter, r *http.Request, item *directory.Item, err error) error {
	if err != nil {
		return err
	}
	return writeItem(w, r, http.StatusOK, item)
}

// writeNoContent replies that something was done, or returns the error.
func writeNoContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
