/** Finds what differs between two texts, word by word. Bounded: texts that are too different are one change. */
export interface Part {
  readonly kind: "same" | "removed" | "added"
  readonly text: string
}

/** Words of both texts beyond which, and edits beyond which, the middle is one change. */
const mostWords = 20_000
const mostEdits = 300

const wordsOf = (text: string): ReadonlyArray<string> => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []

const joined = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const all: Array<Part> = []
  for (const part of parts) {
    const last = all.at(-1)
    if (part.text === "") continue
    if (last?.kind === part.kind) all[all.length - 1] = { kind: part.kind, text: last.text + part.text }
    else all.push(part)
  }
  return all
}

/** The shortest way from one list to the other (Myers), as steps; null: it is longer than the bound. */
const stepsOf = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<Part> | null => {
  const most = Math.min(before.length + after.length, mostEdits)
  const reached = new Map<number, number>([[1, 0]])
  const trace: Array<Map<number, number>> = []
  const at = (diagonals: ReadonlyMap<number, number>, diagonal: number): number => diagonals.get(diagonal) ?? -1
  const goesDown = (diagonals: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean =>
    diagonal === -edits || (diagonal !== edits && at(diagonals, diagonal - 1) < at(diagonals, diagonal + 1))
  for (let edits = 0; edits <= most; edits++) {
    // Only the diagonals that this step can come from are kept.
    const kept = new Map<number, number>()
    for (let diagonal = -edits - 1; diagonal <= edits + 1; diagonal++) {
      const value = reached.get(diagonal)
      if (value !== undefined) kept.set(diagonal, value)
    }
    trace.push(kept)
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = goesDown(reached, diagonal, edits) ? at(reached, diagonal + 1) : at(reached, diagonal - 1) + 1
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++
      reached.set(diagonal, x)
      if (x >= before.length && x - diagonal >= after.length) return walkBack(before, after, trace, goesDown)
    }
  }
  return null
}

const walkBack = (
  before: ReadonlyArray<string>,
  after: ReadonlyArray<string>,
  trace: ReadonlyArray<ReadonlyMap<number, number>>,
  goesDown: (diagonals: ReadonlyMap<number, number>, diagonal: number, edits: number) => boolean
): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let x = before.length
  let y = after.length
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const diagonals = trace[edits] ?? new Map<number, number>()
    const diagonal = x - y
    const from = goesDown(diagonals, diagonal, edits) ? diagonal + 1 : diagonal - 1
    const fromX = edits === 0 ? 0 : (diagonals.get(from) ?? 0)
    const fromY = edits === 0 ? 0 : fromX - from
    while (x > fromX && y > fromY) {
      parts.push({ kind: "same", text: before[--x] ?? "" })
      y--
    }
    if (edits === 0) break
    if (x === fromX) parts.push({ kind: "added", text: after[--y] ?? "" })
    else parts.push({ kind: "removed", text: before[--x] ?? "" })
  }
  return parts.toReversed()
}

export const textDiff = (before: string, after: string): ReadonlyArray<Part> => {
  const [old, fresh] = [wordsOf(before), wordsOf(after)]
  const shorter = Math.min(old.length, fresh.length)
  let head = 0
  while (head < shorter && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < shorter - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++
  const [oldMiddle, freshMiddle] = [old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)]
  const whole: ReadonlyArray<Part> = [
    { kind: "removed", text: oldMiddle.join("") },
    { kind: "added", text: freshMiddle.join("") }
  ]
  const isShort = oldMiddle.length + freshMiddle.length <= mostWords
  return joined([
    { kind: "same", text: old.slice(0, head).join("") },
    ...((isShort ? stepsOf(oldMiddle, freshMiddle) : null) ?? whole),
    { kind: "same", text: old.slice(old.length - tail).join("") }
  ])
}
