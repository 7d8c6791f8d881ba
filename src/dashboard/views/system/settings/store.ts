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
import { ApiError } from "../../../api/ApiError.ts"
import { request, tagOf } from "../../../api/client.ts"
import { refresh } from "../../../api/queries.ts"
import { isSame } from "../../../ui/merge/merge.ts"
import { sendOver } from "../../../ui/merge/resend.ts"
import { words } from "../../../words/merge.ts"
import { nested, type Origin } from "./value.ts"

interface Stores {
  (asked: { readonly body: never; readonly ifMatch?: string | undefined }): Promise<unknown>
  readonly path: string
}

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

/** The call that stores settings; GET shows them at the same path. */
export const shownAt = (operation: string): { readonly path: string } => ({ path: calls[operation]?.path ?? "" })

/** Reads the settings of an operation, and with them the version that an edit begins from. */
export const readSettings = async (operation: string): Promise<Readonly<Record<string, unknown>>> => {
  const answer = await request("GET", shownAt(operation).path, {})
  return (await answer.json()) as Readonly<Record<string, unknown>>
}

/** The value of a setting in what `GET` shows. */
export const valueIn = (answer: unknown, name: string): unknown =>
  name
    .split(".")
    .reduce<unknown>((value, part) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[part], answer)

/** Puts a value in force. */
export const storeSetting = async (
  { name, operation }: Pick<Origin, "name" | "operation">,
  value: unknown,
  ifMatch?: string
): Promise<void> => {
  try {
    const others = replacing.has(operation) ? await readSettings(operation) : {}
    // The page knows the body by the document of the API, which the form was made from.
    await calls[operation]?.({ body: { ...others, ...nested(name, value) } as never, ifMatch })
  } finally {
    void refresh("origins")
  }
}

/** Puts a value in force where the setting still has the one that was seen; other settings may have changed since. */
export const changeSetting = async (
  origin: Pick<Origin, "name" | "operation">,
  seen: unknown,
  value: unknown
): Promise<void> => {
  const isAsSeen = (settings: unknown): boolean => isSame(valueIn(settings, origin.name), seen)
  const settings = await readSettings(origin.operation)
  if (!isAsSeen(settings)) {
    void refresh("origins")
    throw new ApiError(words.changed, { status: 412, code: "precondition_failed" })
  }
  await sendOver(tagOf(shownAt(origin.operation)), (ifMatch) => storeSetting(origin, value, ifMatch), isAsSeen)
}
