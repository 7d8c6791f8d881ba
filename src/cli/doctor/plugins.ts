/** Checks of `gateway doctor` for the plugins of a gateway that runs. */
import * as Effect from "effect/Effect"
import type { PluginView } from "../../subjects/plugins/routes.ts"
import * as Client from "../gateway/Client.ts"
import * as Finding from "./Finding.ts"

/** A stopped guard refuses every request; any other that was stopped is only not called. */
export const judge = (
  plugins: ReadonlyArray<Pick<PluginView, "name" | "status" | "lastError" | "failClosed">>
): Finding.Finding => {
  const broken = plugins.filter(({ status }) => status === "error")
  if (broken.length > 0) {
    const shown = broken.map(({ lastError, name }) => `${name}: ${lastError ?? "it was stopped"}`).join("; ")
    const again = `'gateway plugin activate ${broken[0]?.name}' starts it again; 'gateway plugin deactivate' does without it.`
    return broken.some(({ failClosed }) => failClosed)
      ? Finding.fail(`Requests are refused because a guard was stopped. ${shown}`, again)
      : Finding.warn(shown, again)
  }
  const active = plugins.filter(({ status }) => status === "active")
  if (plugins.length === 0) return Finding.ok("No plugin is installed")
  return Finding.ok(
    active.length === 0 ? "No plugin is active" : `Active plugins: ${active.map(({ name }) => name).join(", ")}`
  )
}

/** Looks for changed files first, where this user may. */
export const plugins = (to: Client.Target): Effect.Effect<Finding.Finding> =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "plugins")
    const before = yield* client.list({ urlParams: {} }).pipe(Client.orExplain(to))
    if (before.plugins.length === 0) return judge([])
    const { found } = yield* client.scan().pipe(Client.orExplain(to))
    const changed = found.filter(({ status }) => status !== "installed")
    const { plugins: all } = yield* client.list({ urlParams: {} }).pipe(Client.orExplain(to))
    const finding = judge(all)
    const [first] = changed
    if (finding.status !== "ok" || first === undefined) return finding
    return Finding.warn(
      changed
        .map(({ errors, name }) => `${name}: ${errors.map(({ field, message }) => `${field} ${message}`).join(", ")}`)
        .join("; "),
      "Install it again to accept changed files, or remove the folder."
    )
  }).pipe(
    Effect.catchAll(({ message }) =>
      Effect.succeed(Finding.skip(`The gateway was not asked for its plugins: ${message}`))
    )
  )
