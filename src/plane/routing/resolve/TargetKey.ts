/**
 * The key of a target: its connection and its model. Connection ids hold no blank, so the first blank ends the id whatever the model is
 * called. Strategies keep these keys in the store (`RouterMemory`): another form would forget whose turn it is.
 */
import type { Target } from "./ModelTargets.ts"

export const targetKey = (connectionId: string, model: string): string => `${connectionId} ${model}`

export const targetKeyOf = ({ account, model }: Target): string => targetKey(account.connection.id, model)
