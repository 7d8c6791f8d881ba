/** Asks systemd's manager of the user. The only place that starts a program: always `systemctl`, with fixed arguments and without a shell. */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"

export const unitName = "gateway.service"

const actions = {
  reload: ["daemon-reload"],
  enable: ["enable", unitName],
  start: ["start", unitName],
  restart: ["restart", unitName],
  stop: ["stop", unitName],
  disable: ["disable", "--now", unitName],
  show: ["show", unitName, "--property=ActiveState,SubState,UnitFileState,MainPID"]
} as const
export type Action = keyof typeof actions

export interface Ended {
  readonly ok: boolean
  /** Output of the program; when it failed, the reason, in one line. */
  readonly text: string
}

const maxOutputBytes = 65_536

/** Runs `systemctl`. Never fails: where it is missing, or has no manager to ask, the result is not ok. */
export const systemctl = (action: Action, timeoutMs = 30_000): Effect.Effect<Ended> =>
  Effect.async((resume) => {
    const child = execFile(
      "systemctl",
      ["--user", "--no-pager", ...actions[action]],
      { timeout: timeoutMs, maxBuffer: maxOutputBytes },
      (error, stdout, stderr) => {
        const why = stderr.trim().split("\n", 1)[0] ?? ""
        if (error === null) resume(Effect.succeed({ ok: true, text: stdout }))
        else resume(Effect.succeed({ ok: false, text: why === "" ? (error.message.split("\n", 1)[0] ?? "") : why }))
      }
    )
    child.stdin?.end()
    return Effect.sync(() => void child.kill())
  })
