/** The frame of all views: the bar with the state of the connection, the entries, and the view of the address. */
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso"
import { useSignal } from "@preact/signals"
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks"
import { signInLogout } from "../api/calls.generated.ts"
import { queries } from "../api/queries.ts"
import { isAdministrator, me, signedIn } from "../api/rights.ts"
import { ended, sessionState } from "../api/session.ts"
import { useAttention } from "../live/attention.ts"
import { lookForBuild } from "../live/build.ts"
import { useFeed } from "../live/feed.ts"
import { feedState, feedSince } from "../live/socket.ts"
import { jobs, useJobs } from "../live/jobs.ts"
import { Icon } from "../ui/Icon.tsx"
import { Jobs } from "../ui/jobs/Jobs.tsx"
import { State } from "../ui/State.tsx"
import { clockTime } from "../ui/format.ts"
import { say, Spoken } from "./spoken.tsx"
import { Toasts } from "../ui/toasts.tsx"
import { words } from "../words/shell.ts"
import { type Entry, loginView, openEntries } from "./entries.ts"
import type { Palette as PaletteOf } from "./Palette.tsx"
import { ChoosePassword } from "./ChoosePassword.tsx"
import { KeysDialog } from "./KeysDialog.tsx"
import { LoginAgain, LoginPage } from "./Login.tsx"
import { Look } from "./Look.tsx"
import { Notices } from "./Notices.tsx"
import { isOwnPage, OwnPage } from "./OwnPage.tsx"
import { base, placeOf } from "../ui/address/places.ts"
import { loginPath } from "../ui/address/waitingLogin.ts"
import { useShortcuts } from "./shortcuts.ts"

/** The state of the live feed, in a word. */
const Live = () => {
  const state = feedState.value
  const told = state === "unreachable" ? words.unreachable(clockTime(feedSince.value)) : words.live[state]
  const before = useRef(told)
  useEffect(() => {
    if (before.current !== told) say(told)
    before.current = told
  }, [told])
  return (
    <span class="live">
      {state === "unreachable" ? (
        <State kind="bad">{told}</State>
      ) : (
        <State kind={state === "live" ? "good" : "quiet"} icon={state === "live" ? "live" : "wait"}>
          {told}
        </State>
      )}
    </span>
  )
}

/** Ends the session, and that at the issuer where one signed the person in. */
const leave = async (): Promise<void> => {
  let next: string | null = null
  try {
    next = (await signInLogout()).url
  } catch {
    // The session is over already, or the gateway is away: the login says so.
  }
  me.value = null
  sessionState.value = "none"
  ended()
  if (next !== null) location.assign(next)
}

const Bar = ({ search }: { readonly search: () => void }) => (
  <header class="bar">
    <strong>{words.title}</strong>
    {isAdministrator() && <Live />}
    <span class="grow" />
    <Jobs known={jobs.value} />
    {isAdministrator() && (
      <button type="button" class="button" onClick={search} title={words.search}>
        <Icon name="search" /> <span class="narrow-hidden">{words.search}</span>
        <kbd class="wide" aria-hidden="true">
          Ctrl K
        </kbd>
      </button>
    )}
    <Look />
    <button
      type="button"
      class="button plain"
      onClick={() => void leave()}
      aria-label={words.logout}
      title={words.logout}
    >
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
        {openEntries().map((entry) => (
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

/** Stands in place of what the role does not open, or does not exist. */
const NoView = () => {
  const person = signedIn()
  if (isAdministrator() || person === null) return <NotFound />
  return (
    <div class="empty">
      <p>{words.noRight(person.role ?? "")}</p>
      <a class="button" href={placeOf("me")}>
        {words.toOwn}
      </a>
    </div>
  )
}

/** A view, one object of it and a part of that are one route: what is drawn stays when another object is chosen. */
const routeOf = ({ path, view }: Entry) => (
  <Route key={path} path={path === "" ? base : `${placeOf(path)}/:id?/:part?`} component={view} />
)

/** Opens the own page of who has no other first page. */
const ToOwn = () => {
  const { route } = useLocation()
  useEffect(() => route(placeOf("me"), true), [route])
  return null
}
const toLogin = <Route key={loginPath} path={placeOf(loginPath)} component={loginView} />
const toOwn = <Route key="first" path={base} component={ToOwn} />

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

/** The first two members of an address below the dashboard name its view; what follows is an object of it. */
const viewOf = (path: string): string => path.slice(base.length).split("/").slice(0, 2).join("/")

const headingOf = (): HTMLElement | null => document.querySelector("#content h1")

/** Puts the focus on the heading of a view that was just opened, unless the view has put it elsewhere. */
const useFocus = (path: string): void => {
  const view = viewOf(path)
  const shown = useRef(view)
  const left = useRef<{ readonly heading: Element | null; readonly focused: Element | null } | null>(null)
  // The view that is left is still in the page now.
  if (shown.current !== view) left.current = { heading: headingOf(), focused: document.activeElement }
  useEffect(() => {
    if (shown.current === view) return undefined
    shown.current = view
    const content = document.querySelector("#content")
    const isDone = (): boolean => {
      const heading = headingOf()
      if (heading === null || heading === left.current?.heading) return false
      const { activeElement } = document
      const isPlaced = activeElement !== left.current?.focused && activeElement?.closest("#content > *") != null
      heading.tabIndex = -1
      if (!isPlaced && document.querySelector("dialog[open]") === null) heading.focus()
      return true
    }
    if (content === null || isDone()) return undefined
    const observer = new MutationObserver(() => {
      if (isDone()) observer.disconnect()
    })
    observer.observe(content, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [view])
}

/** The palette, loaded when it is opened for the first time. */
const useParts = () => {
  const palette = useSignal<typeof PaletteOf | null>(null)
  const isPalette = useSignal(false)
  const isKeys = useSignal(false)
  const search = useCallback((): void => {
    // It finds what only who administers the gateway may see.
    if (!isAdministrator()) return
    isPalette.value = true
    void (async () => {
      palette.value = (await import("./Palette.tsx")).Palette
    })()
  }, [])
  const keys = useCallback((): void => {
    isKeys.value = true
  }, [])
  return { palette, isPalette, isKeys, search, keys }
}

const Frame = () => {
  const { route } = useLocation()
  const { isKeys, isPalette, keys, palette, search } = useParts()
  const open = useCallback((url: string) => route(url), [route])
  useShortcuts({ open, palette: search, keys })
  const actions = useMemo(
    () => [
      { name: words.keys.title, run: keys },
      { name: words.logout, run: leave }
    ],
    [keys]
  )
  const Palette = palette.value
  return (
    <>
      <div class="shell">
        <a class="skip" href="#content">
          {words.skip}
        </a>
        <Bar search={search} />
        <Side />
        <View />
      </div>
      {Palette !== null && (
        <Palette
          isOpen={isPalette.value}
          onClose={() => {
            isPalette.value = false
          }}
          open={open}
          actions={actions}
        />
      )}
      <KeysDialog
        isOpen={isKeys.value}
        onClose={() => {
          isKeys.value = false
        }}
      />
    </>
  )
}

const View = () => {
  const problem = useSignal<string | null>(null)
  const { path } = useLocation()
  useChanges()
  useJobs()
  useAttention()
  useFocus(path)
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
          {isAdministrator() ? openEntries().map(routeOf) : [...openEntries().map(routeOf), toOwn]}
          {toLogin}
          <Route default component={NoView} />
        </Router>
      </ErrorBoundary>
    </main>
  )
}

export const Page = () => {
  if (isOwnPage() && signedIn() === null) return <OwnPage />
  if (sessionState.value === "none") return <LoginPage />
  return (
    <LocationProvider scope={base}>
      <Frame />
      <LoginAgain />
      <ChoosePassword />
      <Toasts />
      <Spoken />
    </LocationProvider>
  )
}
