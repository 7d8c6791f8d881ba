/** The frame of all views: the bar with the state of the connection, the entries, and the view of the address. */
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso"
import { useSignal } from "@preact/signals"
import { useCallback, useRef } from "preact/hooks"
import { authLogout } from "../api/calls.generated.ts"
import { queries } from "../api/queries.ts"
import { ended, sessionState } from "../api/session.ts"
import { useAttention } from "../live/attention.ts"
import { lookForBuild } from "../live/build.ts"
import { useFeed } from "../live/feed.ts"
import { feedState, feedSince } from "../live/socket.ts"
import { jobs, useJobs } from "../live/jobs.ts"
import { Icon } from "../ui/Icon.tsx"
import { Jobs } from "../ui/Jobs.tsx"
import { State } from "../ui/State.tsx"
import { clockTime } from "../ui/format.ts"
import { setTheme, theme } from "../ui/preferences.ts"
import { Toasts } from "../ui/toasts.tsx"
import { words } from "../words/shell.ts"
import { entries, type Entry } from "./entries.ts"
import { LoginAgain, LoginPage } from "./Login.tsx"
import { Notices } from "./Notices.tsx"
import { isOwnPage, OwnPage } from "./OwnPage.tsx"
import { base, placeOf } from "../ui/places.ts"
import { useShortcuts } from "./shortcuts.ts"

const themes = ["system", "light", "dark"] as const

const nextTheme = (): void => {
  setTheme(themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system")
}

/** The state of the live feed, in a word. */
const Live = () => {
  const state = feedState.value
  return (
    <span class="live" role="status">
      {state === "unreachable" ? (
        <State kind="bad">{words.unreachable(clockTime(feedSince.value))}</State>
      ) : (
        <State kind={state === "live" ? "good" : "quiet"} icon={state === "live" ? "live" : "wait"}>
          {words.live[state]}
        </State>
      )}
    </span>
  )
}

const leave = (): void => {
  void authLogout().finally(() => {
    sessionState.value = "none"
    ended()
  })
}

const Bar = () => (
  <header class="bar">
    <strong>{words.title}</strong>
    <Live />
    <span class="grow" />
    <Jobs known={jobs.value} />
    <button type="button" class="button plain" onClick={nextTheme} aria-label={words.theme} title={words.theme}>
      <Icon name="theme" /> <span class="wide">{theme.value}</span>
    </button>
    <button type="button" class="button plain" onClick={leave} aria-label={words.logout} title={words.logout}>
      <Icon name="leave" /> <span class="wide">{words.logout}</span>
    </button>
  </header>
)

const isWithin = (path: string, entry: Entry): boolean => {
  const place = placeOf(entry.path)
  return entry.path === "" ? path === place || path === base : path === place || path.startsWith(`${place}/`)
}

const Side = () => {
  const { path } = useLocation()
  return (
    <nav class="side" aria-label={words.navigation}>
      <ul>
        {entries.map((entry) => (
          <li key={entry.path}>
            <a href={placeOf(entry.path)} aria-current={isWithin(path, entry) ? "page" : undefined} title={entry.name}>
              <Icon name={entry.icon} />
              <span class="name">{entry.name}</span>
              <kbd aria-hidden="true">g {entry.key}</kbd>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const NotFound = () => (
  <div class="empty">
    <p>{words.notFound}</p>
    <a class="button" href={placeOf("")}>
      {words.toHome}
    </a>
  </div>
)

/** A view, one object of it and a part of that are one route: what is drawn stays when another object is chosen. */
const routes = entries.map(({ path, view }) => (
  <Route key={path} path={path === "" ? base : `${placeOf(path)}/:id?/:part?`} component={view} />
))

const settlesMs = 500

/** Asks again for what is shown when the configuration has changed, by whomever. */
const useChanges = (): void => {
  const timer = useRef<number | undefined>(undefined)
  useFeed(
    "config",
    useCallback(() => {
      globalThis.clearTimeout(timer.current)
      timer.current = globalThis.setTimeout(() => void queries.invalidateQueries(), settlesMs)
    }, [])
  )
}

const View = () => {
  const problem = useSignal<string | null>(null)
  const { route } = useLocation()
  useShortcuts(route)
  useChanges()
  useJobs()
  useAttention()
  return (
    <main class="main" id="content" tabIndex={-1}>
      <Notices />
      {problem.value !== null && <State kind="bad">{words.broken}</State>}
      <ErrorBoundary
        onError={(error) => {
          problem.value = error.message
          // A view that cannot be loaded may be one of a version that is gone.
          void lookForBuild()
        }}
      >
        <Router
          onRouteChange={() => {
            problem.value = null
          }}
        >
          {routes}
          <Route default component={NotFound} />
        </Router>
      </ErrorBoundary>
    </main>
  )
}

export const Page = () => {
  if (isOwnPage()) return <OwnPage />
  if (sessionState.value === "none") return <LoginPage />
  return (
    <LocationProvider scope={base}>
      <div class="shell">
        <a class="skip" href="#content">
          {words.skip}
        </a>
        <Bar />
        <Side />
        <View />
      </div>
      <LoginAgain />
      <Toasts />
    </LocationProvider>
  )
}
