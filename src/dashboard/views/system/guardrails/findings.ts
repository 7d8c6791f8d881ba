/** Sorts what guardrails found in the order of the text. Pure. */
export interface Finding {
  readonly kind: "personal" | "injection"
  readonly name: string
  readonly severity: string | null
  readonly start: number
  readonly end: number
}

export interface Found {
  readonly personalData: ReadonlyArray<{ readonly detector: string; readonly start: number; readonly end: number }>
  readonly injections: ReadonlyArray<{
    readonly group: string
    readonly severity: string
    readonly start: number
    readonly end: number
  }>
}

export const findingsOf = ({ injections, personalData }: Found): ReadonlyArray<Finding> =>
  [
    ...personalData.map(({ detector, end, start }) => ({
      kind: "personal" as const,
      name: detector,
      severity: null,
      start,
      end
    })),
    ...injections.map(({ end, group, severity, start }) => ({
      kind: "injection" as const,
      name: group,
      severity,
      start,
      end
    }))
  ].toSorted((one, other) => one.start - other.start || other.end - one.end)

export interface Part {
  /** Index of its first character. */
  readonly at: number
  readonly part: string
  readonly isFound: boolean
}

/** The text in parts, found ones and others; findings that overlap are one part. */
export const marked = (text: string, findings: ReadonlyArray<Finding>): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let at = 0
  const add = (end: number, isFound: boolean): void => {
    if (end > at) parts.push({ at, part: text.slice(at, end), isFound })
    at = Math.max(at, end)
  }
  let open: { start: number; end: number } | null = null
  const close = (): void => {
    if (open === null) return
    add(open.start, false)
    add(open.end, true)
    open = null
  }
  for (const { end, start } of findings) {
    if (open !== null && start <= open.end) open.end = Math.max(open.end, end)
    else {
      close()
      open = { start, end }
    }
  }
  close()
  add(text.length, false)
  return parts
}
