package totp

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/boombuler/barcode/qr"
)

// How a QR code is drawn: pixels for each module, and modules of light around it,
// without which a scanner does not find it on a dark page (ISO/IEC 18004 §6.3.8).
const (
	modulePixels = 5
	quietModules = 4
)

// QRCode draws a text as a QR code: a data URI of a PNG.
func QRCode(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("totp: drawing a QR code: %w", err)
	}
	modules := code.Bounds()
	size := (modules.Dx() + 2*quietModules) * modulePixels
	picture := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.White, color.Black})
	for y := range modules.Dy() {
		for x := range modules.Dx() {
			if code.At(x, y) == color.Black {
				darken(picture, x+quietModules, y+quietModules)
			}
		}
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		return "", fmt.Errorf("totp: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(encoded.Bytes()), nil
}

// darken draws a dark module.
func darken(picture *image.Paletted, x, y int) {
	for dy := range modulePixels {
		for dx := range modulePixels {
			picture.SetColorIndex(x*modulePixels+dx, y*modulePixels+dy, 1)
		}
	}
}
