/** Names that are led to this machine: custom hosts, and the hosts of agents. The hosts file follows what is wanted. */
import * as Effect from "effect/Effect"
import { type CustomHost, wantedHosts, resumes } from "./CaptureSettings.ts"
import type { HostView } from "./CaptureViews.ts"
import { type Fronts, listenWords } from "./Fronts.ts"
import { CaptureState } from "./CaptureState.ts"
import { HostsFile, maxHosts } from "./host/HostsFile.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { readHostName } from "./host/CustomHostName.ts"
import { BadHost, HostKnown, TooManyHosts, HostNotFound } from "./CaptureErrors.ts"

const shown = (host: CustomHost, names: ReadonlySet<string>): HostView => ({
  ...host,
  inHostsFile: names.has(host.host)
})

export const makeCapturedHosts = ({ closeServer, isServing, openServer }: Fronts) =>
  Effect.gen(function* () {
    const { settings } = yield* CaptureState
    const file = yield* HostsFile

    /** Brings server and hosts file to what is wanted. Names lead here only while the server listens. */
    const settleHosts = (mayStart: boolean) =>
      Effect.gen(function* () {
        const wantedNow = wantedHosts(settings.current())
        if (wantedNow.length === 0 && isServing() && settings.current().server !== "on") return yield* closeServer
        if (wantedNow.length > 0 && !isServing()) {
          if (!mayStart) return null
          const problem = yield* openServer.pipe(
            Effect.as(null),
            Effect.catchAll((failed) => Effect.succeed(listenWords(failed)))
          )
          if (problem !== null) {
            return `The hosts file was left as it is, because the decrypting server does not run: ${asSentence(problem)}`
          }
        }
        return isServing() ? (yield* file.set(wantedNow)).warning : null
      })

    const viewOf = (host: CustomHost) => Effect.map(file.names, (names) => shown(host, names))

    const putHosts = (hosts: ReadonlyArray<CustomHost>, mayStart: boolean) =>
      Effect.gen(function* () {
        const wasStopped = settings.current().server === "off"
        yield* settings.set({ hosts, ...(mayStart && wasStopped ? { server: null } : {}) })
        return yield* settleHosts(mayStart)
      })

    const addHost = Effect.fn("Capture.addHost")(function* (asked: CustomHost) {
      const name = readHostName(asked.host)
      if (!name.ok) return yield* new BadHost({ problem: name.problem })
      const { hosts } = settings.current()
      if (hosts.some(({ host }) => host === name.host)) return yield* new HostKnown({ host: name.host })
      if (wantedHosts(settings.current()).length >= maxHosts || hosts.length >= maxHosts) {
        return yield* new TooManyHosts({ most: maxHosts })
      }
      const added = { ...asked, host: name.host }
      const warning = yield* putHosts([...hosts, added], added.enabled)
      return { host: yield* viewOf(added), warning }
    })

    const found = (host: string): Effect.Effect<CustomHost, HostNotFound> => {
      const known = settings.current().hosts.find((each) => each.host === host.toLowerCase())
      return known === undefined ? new HostNotFound({ host }) : Effect.succeed(known)
    }

    const enableHost = Effect.fn("Capture.enableHost")(function* (host: string, enabled: boolean) {
      const known = yield* found(host)
      const changed = { ...known, enabled }
      const hosts = settings.current().hosts.map((each) => (each.host === known.host ? changed : each))
      const warning = yield* putHosts(hosts, enabled)
      return { host: yield* viewOf(changed), warning }
    })

    const removeHost = Effect.fn("Capture.removeHost")(function* (host: string) {
      const known = yield* found(host)
      return yield* putHosts(
        settings.current().hosts.filter((each) => each.host !== known.host),
        false
      )
    })

    const setAgentHosts = Effect.fn("Capture.setAgentHosts")(function* (agent: string, hosts: ReadonlyArray<string>) {
      const { [agent]: _before, ...others } = settings.current().agentHosts
      const wasStopped = settings.current().server === "off"
      yield* settings.set({
        agentHosts: hosts.length === 0 ? others : { ...others, [agent]: hosts },
        ...(hosts.length > 0 && wasStopped ? { server: null } : {})
      })
      return yield* settleHosts(hosts.length > 0)
    })

    const resumed = Effect.gen(function* () {
      if (settings.current().server !== "on") return yield* settleHosts(true)
      const problem = yield* openServer.pipe(
        Effect.as(null),
        Effect.catchAll((failed) => Effect.succeed(`The decrypting server does not run: ${listenWords(failed)}.`))
      )
      return problem ?? (yield* settleHosts(true))
    })

    return {
      addHost,
      enableHost,
      removeHost,
      setAgentHosts,
      settleHosts,
      /** Takes up what was on when the gateway ended. */
      resume: Effect.suspend(() => (resumes(settings.current()) ? resumed : Effect.succeed(null))),
      hosts: Effect.map(file.names, (names) => settings.current().hosts.map((host) => shown(host, names)))
    }
  })
