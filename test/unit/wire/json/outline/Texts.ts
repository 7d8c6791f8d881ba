/** Draws JSON texts and requests for the tests of outlines: the same ones for the same seed. */

export interface Draw {
  /** A whole number below `bound`. */
  readonly below: (bound: number) => number
  readonly of: <A>(values: ReadonlyArray<A>) => A
  readonly isOnceIn: (times: number) => boolean
}

/** https://www.jstatsoft.org/article/view/v008i14 */
export const makeDraw = (seed: number): Draw => {
  let state = seed | 1
  const below = (bound: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
  return {
    below,
    of: (values) => {
      const value = values[below(values.length)]
      if (value === undefined) throw new Error("there is nothing to draw from")
      return value
    },
    isOnceIn: (times) => below(times) === 0
  }
}

const pieces = [
  "a",
  "Z",
  "0",
  "_",
  "-",
  " ",
  "ß",
  "é",
  "€",
  "語",
  "😀",
  "\u{10ffff}",
  "\u2028",
  "\u007f",
  "\\n",
  "\\\\",
  '\\"',
  "\\/",
  "\\u0061",
  "\\u00e9",
  "\\ud83d\\ude00",
  "\\udc00",
  "\\u0000",
  "plain words ",
  "the quick brown fox jumps over the lazy dog. ",
  "{",
  "}",
  "[",
  "]",
  ":",
  ","
]

export const textOf = (draw: Draw): string => {
  const count = draw.isOnceIn(6) ? draw.below(60) : draw.below(6)
  let text = '"'
  for (let piece = 0; piece < count; piece += 1) text += draw.of(pieces)
  return `${text}"`
}

const spaces = ["", "", "", " ", "\n", "\t\r\n  "]
const literals = ["true", "false", "null", "0", "-0", "1", "-1.5", "1e9", "2E-3", "0.25e+2", "12345678901234567890"]
const names = ["a", "b", "content", "text", "type", "role", "id", "input", "parameters", "x1", "é", "__proto__", ""]

const listOf = (draw: Draw, ends: string, item: (index: number) => string): string => {
  const items = Array.from(
    { length: draw.below(5) },
    (_, index) => `${draw.of(spaces)}${item(index)}${draw.of(spaces)}`
  )
  return `${ends.charAt(0)}${items.join(",") || draw.of(spaces)}${ends.charAt(1)}`
}

const objectOf = (draw: Draw, levels: number): string => {
  const rest = [...names]
  return listOf(draw, "{}", () => {
    const name = draw.isOnceIn(40) ? textOf(draw) : JSON.stringify(rest.splice(draw.below(rest.length), 1)[0])
    return `${name}${draw.of(spaces)}:${draw.of(spaces)}${valueOf(draw, levels - 1)}`
  })
}

const valueOf = (draw: Draw, levels: number): string => {
  const kind = draw.below(levels > 0 ? 5 : 2)
  if (kind === 0) return draw.of(literals)
  if (kind === 1) return textOf(draw)
  return kind === 2 ? listOf(draw, "[]", () => valueOf(draw, levels - 1)) : objectOf(draw, levels)
}

/** The text of an object. */
export const jsonOf = (draw: Draw): string => `${draw.of(spaces)}${objectOf(draw, 4)}${draw.of(spaces)}`

const hostile = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "0",
  "e",
  "-",
  ".",
  "t",
  "\u0000",
  "\u001f",
  "\u00ff",
  "\u0080"
]

/** The bytes with one to three of them changed, put in or taken out, or cut off, or with a part of them twice. */
export const brokenOf = (draw: Draw, bytes: Buffer): Buffer => {
  let broken = bytes
  for (let step = draw.below(3); step >= 0; step -= 1) {
    const at = draw.below(broken.length + 1)
    const [before, after] = [broken.subarray(0, at), broken.subarray(at)]
    const byte = Buffer.from(draw.of(hostile), "latin1")
    const kinds = [
      () => Buffer.concat([before, byte, after.subarray(1)]),
      () => Buffer.concat([before, byte, after]),
      () => Buffer.concat([before, after.subarray(1)]),
      () => before,
      () => Buffer.concat([before, after.subarray(0, draw.below(30)), after])
    ]
    broken = draw.of(kinds)()
  }
  return broken
}
