/** A combo with its decoded config. Separate from `Combo`, so that the command line need not load the decoder. */
import type { Combo } from "../entity.ts"
import { type ComboPolicy, decodeStored } from "./ComboPolicy.ts"

export interface RoutableCombo extends Combo {
  /** The decoded `config`. */
  readonly policy: ComboPolicy
}

export const routable = (combo: Combo): RoutableCombo => ({ ...combo, policy: decodeStored(combo.config) })
