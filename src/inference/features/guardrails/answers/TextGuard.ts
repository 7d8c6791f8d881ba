/** What looks for personal data in texts of an answer. */

/** `[start, end)` of the text. */
export interface Finding {
  readonly start: number
  readonly end: number
  /** Id of the detector, or the name of a custom pattern. */
  readonly detector: string
  /** What takes its place. */
  readonly placeholder: string
}

export interface TextGuard {
  /** Findings in their order, none over another. Linear. */
  readonly find: (text: string) => ReadonlyArray<Finding>
  /** Longest text that can be a finding. */
  readonly longestMatchChars: number
  /** From where on the text can be the beginning of a finding that goes on behind its end; its length when nothing can. */
  readonly openFrom: (text: string) => number
}
