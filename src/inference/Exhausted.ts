/** Which targets of one request need not be asked any more, because another has shown what they would say. */
import type { Failure } from "../resilience/failure/FailureKind.ts"
import type { Target } from "../routing/ModelResolver.ts"

export interface Exhausted {
  readonly add: (target: Target, failure: Failure) => void
  readonly covers: (target: Target) => boolean
}

const connectionOf = ({ account }: Target): string => `connection ${account.connection.id}`
const modelOf = ({ account, model }: Target): string => `model ${account.spec.id} ${model}`
const providerOf = ({ account }: Target): string => `provider ${account.spec.id}`

export const makeExhausted = (): Exhausted => {
  let keys: Set<string> | null = null
  return {
    add: (target, { exhausts }) => {
      if (exhausts === "nothing") return
      keys ??= new Set()
      keys.add(
        exhausts === "connection" ? connectionOf(target) : exhausts === "model" ? modelOf(target) : providerOf(target)
      )
    },
    covers: (target) =>
      keys !== null && (keys.has(connectionOf(target)) || keys.has(modelOf(target)) || keys.has(providerOf(target)))
  }
}
