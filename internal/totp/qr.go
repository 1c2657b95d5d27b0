package totp

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"
)

// The size of a QR code: the pixels of each module, and the light modules around the code, without
// which scanners do not find it on a dark page (ISO/IEC 18004 §6.3.8).
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
	modules := code.Bounds().Dx()
	code, err = barcode.Scale(code, modules*modulePixels, modules*modulePixels)
	if err != nil {
		return "", fmt.Errorf("totp: drawing a QR code: %w", err)
	}
	margin := image.Pt(quietModules*modulePixels, quietModules*modulePixels)
	picture := image.NewPaletted(image.Rectangle{Max: code.Bounds().Max.Add(margin.Mul(2))}, color.Palette{color.White, color.Black})
	draw.Draw(picture, code.Bounds().Add(margin), code, image.Point{}, draw.Src)
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		return "", fmt.Errorf("totp: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(encoded.Bytes()), nil
}
