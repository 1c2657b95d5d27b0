package server_test

import (
	"net/http"
	"net/http/httptest"
)

func record(w *world, r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}
