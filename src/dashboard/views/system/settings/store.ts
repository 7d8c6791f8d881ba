/** Stores one setting by the operation that it belongs to. */
import {
  compressionSetSettings,
  gatewaySettingsSetIpFilter,
  gatewaySettingsSetRequireLogin,
  gatewaySettingsSetSystemPrompt,
  gatewaySettingsSetThinkingBudget,
  gatewaySettingsUpdate,
  guardrailsSet,
  resilienceUpdate,
  routingSettingsUpdate
} from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { nested, type Origin } from "./value.ts"

type Stores = (asked: { readonly body: never }) => Promise<unknown>

const calls: Readonly<Record<string, Stores>> = {
  gatewaySettingsUpdate,
  routingSettingsUpdate,
  resilienceUpdate,
  gatewaySettingsSetIpFilter,
  gatewaySettingsSetThinkingBudget,
  gatewaySettingsSetSystemPrompt,
  gatewaySettingsSetRequireLogin,
  guardrailsSet,
  compressionSetSettings
}

/** Operations that replace all of their settings: what is left out would go back to its default. */
const replacing: ReadonlySet<string> = new Set(["compressionSetSettings"])

/** Puts a value in force. `all` are the settings as they were read last. */
export const storeSetting = async (
  { name, operation }: Pick<Origin, "name" | "operation">,
  value: unknown,
  all: ReadonlyArray<Origin>
): Promise<void> => {
  const others = replacing.has(operation)
    ? Object.fromEntries(all.filter((one) => one.operation === operation).map((one) => [one.name, one.value]))
    : {}
  try {
    // The page knows the body by the document of the API, which the form was made from.
    await calls[operation]?.({ body: { ...others, ...nested(name, value) } as never })
  } finally {
    void refresh("origins")
  }
}
