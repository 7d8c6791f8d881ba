/** Detector of personal data in texts of an answer. */
import type { Finding } from "../../../guard/Finding.ts"

export type { Finding }

export interface TextGuard {
  /** Findings in their order, none over another. Linear. */
  readonly find: (text: string) => ReadonlyArray<Finding>
  /** Longest text that can be a finding. */
  readonly longestMatchChars: number
  /** Characters that may be looked at in one step; absent: `usualWindowChars`. */
  readonly windowChars?: number
  /**
   * Returns the position from which on the text can be the beginning of a finding that goes on behind its end; its
   * length when there is none.
   */
  readonly openFrom: (text: string) => number
}

/** Takes the detectors of the gateway itself some milliseconds. */
export const usualWindowChars = 65_536
