package working

import (
	"bytes"
	"image"
	_ "image/gif" // the formats that every provider takes
	_ "image/jpeg"
	_ "image/png"

	"github.com/holdfast-go/holdfast/message"
)

// An image costs 85 tokens and 170 for each tile of 512 pixels, after it was scaled to fit 2048 pixels, and its shorter side
// 768: OpenAI's guide "Images and vision", high detail. One whose size is not known is counted as the largest, eight tiles.
const (
	perImage   = 85
	perTile    = 170
	tileSide   = 512
	shortSide  = 768
	longSide   = 2048
	mostTokens = perImage + 8*perTile
)

// imageTokens reads no more of the image than its header.
func imageTokens(m *message.Image) int {
	size, _, err := image.DecodeConfig(bytes.NewReader(m.Data))
	if err != nil || size.Width <= 0 || size.Height <= 0 {
		return mostTokens // an address, or a format that is not known here
	}
	short, long := float64(min(size.Width, size.Height)), float64(max(size.Width, size.Height))
	scale := min(1, longSide/long, shortSide/short)
	return min(mostTokens, perImage+perTile*tiles(short*scale)*tiles(long*scale))
}

// tiles is how many tiles a side takes, at least one.
func tiles(side float64) int { return max(1, (int(side)+tileSide-1)/tileSide) }
