/** `gateway guardrails show` and `set`. */
import * as Effect from "effect/Effect"
import { GuardrailSettings, GuardrailSettingsPatch } from "../entity.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { setSettings, type SettingsGroup, showSettings } from "../../settings/commands/commands.ts"

const guardrails: SettingsGroup<
  typeof GuardrailSettings.Type,
  typeof GuardrailSettings.Encoded,
  typeof GuardrailSettingsPatch.Type,
  typeof GuardrailSettingsPatch.Encoded
> = {
  show: "guardrails show",
  schema: GuardrailSettings,
  patch: GuardrailSettingsPatch,
  read: (to) => Effect.flatMap(Client.group(to, "guardrails"), (client) => client.get().pipe(Client.orExplain(to))),
  write: (to, payload) =>
    Effect.flatMap(Client.group(to, "guardrails"), (client) => client.set({ payload }).pipe(Client.orExplain(to)))
}

export const guardrailsShow = showSettings(guardrails)
export const guardrailsSet = setSettings(guardrails)
