/** Personal data and secrets that were found in a text. */

export const detectorIds = ["api-key", "iban", "credit-card", "email", "ssn", "cpf", "cnpj", "phone", "ip"] as const

/** Detectors, from the one that wins to the one that yields where two find the same place. */
export type DetectorId = (typeof detectorIds)[number]

/** `[start, end)` of the text. */
export interface Finding {
  readonly start: number
  readonly end: number
  /** Id of the detector, or the name of a custom pattern. */
  readonly detector: string
  /** Replacement for it. */
  readonly placeholder: string
}

/** `[CREDIT_CARD_REDACTED]` for `credit-card`. */
export const placeholderOf = (id: string): string => `[${id.toUpperCase().replaceAll("-", "_")}_REDACTED]`
