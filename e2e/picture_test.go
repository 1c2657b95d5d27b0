package e2e_test

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// savePicture writes a part of a screenshot to docs/screenshots, with the 256 most frequent colors. An
// empty part is all of it.
func savePicture(t *testing.T, name string, screenshot []byte, part image.Rectangle) {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(screenshot))
	if err != nil {
		t.Fatal(err)
	}
	if part = part.Intersect(picture.Bounds()); part.Empty() {
		part = picture.Bounds()
	}
	reduced := image.NewPaletted(image.Rectangle{Max: part.Size()}, frequentColors(picture, part))
	draw.Draw(reduced, reduced.Bounds(), picture, part.Min, draw.Src)
	var file bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&file, reduced); err != nil {
		t.Fatal(err)
	}
	datatest.WriteFile(t, "../docs/screenshots/"+name+".png", file.Bytes())
}

// frequentColors returns the 256 most frequent colors of a part of a picture.
func frequentColors(picture image.Image, part image.Rectangle) color.Palette {
	counts := map[color.RGBA]int{}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			counts[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	palette := make(color.Palette, 0, len(counts))
	for one := range counts {
		palette = append(palette, one)
	}
	slices.SortFunc(palette, func(a, b color.Color) int {
		return cmp.Compare(counts[b.(color.RGBA)], counts[a.(color.RGBA)])
	})
	return palette[:min(len(palette), 256)]
}
