/** The difference of two texts by lines, as `diff -u` shows it. Pure. */

const context = 2
/** Longer parts that differ are shown as removed and added whole. */
const maxLines = 2_000

const linesOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.replace(/\n$/, "").split("\n"))

interface Line {
  readonly sign: " " | "-" | "+"
  readonly text: string
}

/** The longest common part of what differs. */
const middle = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): ReadonlyArray<Line> => {
  if (left.length > maxLines || right.length > maxLines) {
    return [...left.map((text): Line => ({ sign: "-", text })), ...right.map((text): Line => ({ sign: "+", text }))]
  }
  const width = right.length + 1
  const lengths = new Uint16Array((left.length + 1) * width)
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        left[i] === right[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
    }
  }
  const lines: Array<Line> = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    const [was = "", is = ""] = [left[i], right[j]]
    if (i < left.length && j < right.length && was === is) {
      lines.push({ sign: " ", text: was })
      i += 1
      j += 1
    } else if (
      i < left.length &&
      (j >= right.length || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      lines.push({ sign: "-", text: was })
      i += 1
    } else {
      lines.push({ sign: "+", text: is })
      j += 1
    }
  }
  return lines
}

/** Lines with `+` and `-`, and some around them; nothing when the texts are the same. */
export const diff = (before: string, after: string): ReadonlyArray<string> => {
  if (before === after) return []
  const left = linesOf(before)
  const right = linesOf(after)
  let head = 0
  while (head < left.length && head < right.length && left[head] === right[head]) head += 1
  let tail = 0
  while (
    tail < left.length - head &&
    tail < right.length - head &&
    left[left.length - 1 - tail] === right[right.length - 1 - tail]
  ) {
    tail += 1
  }
  const lines: ReadonlyArray<Line> = [
    ...left.slice(Math.max(0, head - context), head).map((text): Line => ({ sign: " ", text })),
    ...middle(left.slice(head, left.length - tail), right.slice(head, right.length - tail)),
    ...left.slice(left.length - tail, left.length - tail + context).map((text): Line => ({ sign: " ", text }))
  ]
  const shown = lines.map((_, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== " ")
  )
  return lines.flatMap(({ sign, text }, at) => {
    if (shown[at] === true) return [`${sign}${text}`]
    return shown[at - 1] === true ? [" …"] : []
  })
}
