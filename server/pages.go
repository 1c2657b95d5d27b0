package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/document"
)

// mountPages mounts the pages after the API, longer keys first.
func (s *server) mountPages(router *mux.Router) {
	keys := make([]string, 0, len(s.Pages))
	for key := range s.Pages {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return len(b) - len(a) })
	for _, key := range keys {
		page := s.page(key)
		if strings.HasSuffix(key, "/") && key != "/" {
			router.PathPrefix(key).Handler(page)
		} else {
			router.Path(key).Handler(page)
		}
	}
}

// page serves a page. If it fails in plain text, the client gets the API's error instead.
func (s *server) page(key string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchangeOf(r).route, exchangeOf(r).isPage = key, true
		reply := &document.HeldReply{ResponseWriter: w, Holds: isPlainError}
		s.Pages[key].ServeHTTP(reply, r)
		switch reply.Status {
		case 0:
		case http.StatusNotFound:
			s.notFound(w, r)
		case http.StatusMethodNotAllowed:
			s.fail(w, r, wrongMethod(r.Method, key, w.Header().Get("Allow")))
		default:
			s.fail(w, r, fmt.Errorf("the page %s answered with %d", key, reply.Status))
		}
	})
}

// isPlainError reports whether a reply is an error of http.Error or http.ServeMux.
func isPlainError(status int, h http.Header) bool {
	return document.IsPlainText(h) && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusInternalServerError}, status)
}
