/** The class whose resilience rules hold for an account, from facts: how it signs in, and where its server is. */
import type { ProviderClass } from "../../../contract/domain/Provider.ts"
import { isLocalAddress } from "../../../net/egress/OutboundPolicy.ts"
import type { Account } from "../../providers/Catalog.ts"
import type { Guarded } from "../../resilience/breaker/Breakers.ts"

const classOf = ({ connection, spec }: Account): ProviderClass => {
  if (connection.authType === "oauth") return "oauth"
  return isLocalAddress(connection.baseUrl ?? spec.baseUrl) ? "local" : "apikey"
}

const known = new WeakMap<Account, Guarded>()

/** Hot: the provider's breaker as this account meets it. */
export const guardedOf = (account: Account): Guarded => {
  const made = known.get(account)
  if (made !== undefined) return made
  const guarded = { id: account.spec.id, class: classOf(account) }
  known.set(account, guarded)
  return guarded
}
