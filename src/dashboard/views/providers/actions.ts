/** Does things with an account: tested, turned off and on with a way back, let go on. */
import { ApiError } from "../../api/ApiError.ts"
import { providersTest, providersUpdate, resilienceClearCooldowns } from "../../api/calls.generated.ts"
import { refresh } from "../../api/queries.ts"
import { duration, visible } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/providers.ts"
import { type Connection, nameOf } from "./names.ts"

/** Answers that may be old after an account was changed. */
export const ofAccounts = ["connections", "connection", "standings", "pauses", "attention", "steps"] as const

export const renewAccounts = (): void => {
  for (const key of ofAccounts) void refresh(key)
}

/** Runs what changes accounts; the reason is told where it is refused. */
export const doing = async (work: () => Promise<unknown>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    toast("bad", visible(error instanceof ApiError ? error.message : String(error)))
  } finally {
    renewAccounts()
  }
}

/** Asks the provider, and tells what came of it. */
export const testAccount = async (connection: Pick<Connection, "id" | "name" | "provider">): Promise<void> => {
  const { error, latencyMs, model, ok } = await providersTest({ path: { id: connection.id } })
  const name = nameOf(connection)
  if (!ok) toast("bad", `${name}: ${visible(error ?? "")}`)
  else if (model === null) toast("good", words.tested(name, duration(latencyMs)))
  else toast("good", words.testedModel(name, duration(latencyMs), visible(model)))
}

export const turnAccount = async (
  connection: Pick<Connection, "id" | "name" | "provider">,
  isActive: boolean
): Promise<void> => {
  const turn = (next: boolean) => providersUpdate({ path: { id: connection.id }, body: { isActive: next } })
  await turn(isActive)
  const name = nameOf(connection)
  toast("good", isActive ? words.turnedOn(name) : words.turnedOff(name), {
    label: words.undo,
    run: () => void doing(() => turn(!isActive))
  })
}

export const letGoOn = async (connection: Pick<Connection, "id" | "name" | "provider">): Promise<void> => {
  await resilienceClearCooldowns({ body: { connectionId: connection.id } })
  toast("good", words.lets(nameOf(connection)))
}
