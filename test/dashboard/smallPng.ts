/** Makes a picture of a page small: as few colours as it can do with, compressed. Chromium's own pictures are four times as large. */
import { crc32, deflateSync, inflateSync } from "node:zlib"

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const mostColors = 160
/** Of these, the colours that are there most. */
const mostFrequent = 100

const chunksOf = (png: Buffer): ReadonlyArray<readonly [type: string, data: Buffer]> => {
  const chunks: Array<readonly [string, Buffer]> = []
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    chunks.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)])
    at += length + 12
  }
  return chunks
}

const chunk = (type: string, data: Buffer): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(data.length)
  const named = Buffer.concat([Buffer.from(type, "latin1"), data])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([head, named, sum])
}

const paeth = (left: number, above: number, corner: number): number => {
  const guess = left + above - corner
  const [byLeft, byAbove, byCorner] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)]
  return byLeft <= byAbove && byLeft <= byCorner ? left : byAbove <= byCorner ? above : corner
}

/** What a filter takes off a byte, by its kind (PNG, 9.2). */
const predicted = [
  () => 0,
  (left: number) => left,
  (_left: number, above: number) => above,
  (left: number, above: number) => (left + above) >> 1,
  paeth
] as const

/** The pixels without the filters of their lines. */
const pixelsOf = (data: Buffer, height: number, lineBytes: number, pixelBytes: number): Buffer => {
  const raw = inflateSync(data)
  const pixels = Buffer.alloc(height * lineBytes)
  for (let y = 0; y < height; y++) {
    const predict = predicted[raw[y * (lineBytes + 1)] ?? 0] ?? predicted[0]
    for (let x = 0; x < lineBytes; x++) {
      const at = y * lineBytes + x
      const hasLeft = x >= pixelBytes
      const left = hasLeft ? (pixels[at - pixelBytes] ?? 0) : 0
      const above = y > 0 ? (pixels[at - lineBytes] ?? 0) : 0
      const corner = hasLeft && y > 0 ? (pixels[at - lineBytes - pixelBytes] ?? 0) : 0
      pixels[at] = ((raw[y * (lineBytes + 1) + 1 + x] ?? 0) + predict(left, above, corner)) & 255
    }
  }
  return pixels
}

const distance = (one: number, other: number): number =>
  [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0)

/** A palette of the colours that are there most and of those that are least like them, and for each colour its place in it. */
const paletteOf = (colors: Uint32Array) => {
  const counts = new Map<number, number>()
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1)
  const all = [...counts].toSorted(([, one], [, other]) => other - one).map(([color]) => color)
  const palette = all.slice(0, mostFrequent)
  /** Place of the nearest of the palette, and how far it is. */
  const nearest = new Map(all.map((color) => [color, { place: 0, far: Number.POSITIVE_INFINITY }]))
  const nearer = (place: number): void => {
    for (const [color, known] of nearest) {
      const far = distance(color, palette[place] ?? 0)
      if (far < known.far) nearest.set(color, { place, far })
    }
  }
  for (const place of palette.keys()) nearer(place)
  while (palette.length < Math.min(mostColors, all.length)) {
    const [farthest = 0] = [...nearest].reduce((one, other) => (other[1].far > one[1].far ? other : one))
    palette.push(farthest)
    nearer(palette.length - 1)
  }
  return { palette, placeOf: (color: number): number => nearest.get(color)?.place ?? 0 }
}

/** `png` has eight bits a channel, with or without alpha, as Chromium makes it. */
export const smallPng = (png: Buffer): Buffer => {
  const chunks = chunksOf(png)
  const header = chunks.find(([type]) => type === "IHDR")?.[1] ?? Buffer.alloc(13)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const pixelBytes = header[9] === 6 ? 4 : 3
  const data = Buffer.concat(chunks.filter(([type]) => type === "IDAT").map(([, part]) => part))
  const pixels = pixelsOf(data, height, width * pixelBytes, pixelBytes)
  const colors = Uint32Array.from({ length: width * height }, (_, at) => pixels.readUIntBE(at * pixelBytes, 3))
  const { palette, placeOf } = paletteOf(colors)
  const lines = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = placeOf(colors[y * width + x] ?? 0)
  }
  const own = Buffer.alloc(13)
  header.copy(own, 0, 0, 8)
  own.set([8, 3, 0, 0, 0], 8)
  const table = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))
  const body = [chunk("IHDR", own), chunk("PLTE", table), chunk("IDAT", deflateSync(lines, { level: 9 }))]
  return Buffer.concat([signature, ...body, chunk("IEND", Buffer.alloc(0))])
}
