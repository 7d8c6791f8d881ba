/** What a combo can be saved with. */
import { ComboStrategy } from "../domain/Combo.ts"

/** Strategies that are carried out: one that is not would be a promise nobody keeps. */
export const builtStrategies: ReadonlySet<ComboStrategy> = new Set(ComboStrategy.literals)
