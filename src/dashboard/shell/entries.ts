/** The entries of the side bar. A view is loaded when it is opened. */
import { lazy } from "preact-iso"
import type { IconName } from "../ui/Icon.tsx"
import { isAdministrator, reachesOthers, signedIn } from "../api/rights.ts"
import { words } from "../words/shell.ts"

export interface Entry {
  /** Path below the dashboard; empty: the first page. */
  readonly path: string
  readonly name: string
  readonly icon: IconName
  /** Opens it after `g`. */
  readonly key: string
  /** Checks whether the rights of the current user open it; absent: for administrators. */
  readonly isOpen?: () => boolean
  readonly view: ReturnType<typeof lazy<() => preact.JSX.Element>>
}

export const entries: ReadonlyArray<Entry> = [
  {
    path: "",
    name: words.entries.home,
    icon: "home",
    key: "h",
    view: lazy(async () => (await import("../views/home/Home.tsx")).Home)
  },
  {
    path: "me",
    name: words.entries.me,
    icon: "person",
    key: "e",
    isOpen: () => signedIn() !== null,
    view: lazy(async () => (await import("../views/me/person/Person.tsx")).Person)
  },
  {
    path: "requests",
    name: words.entries.requests,
    icon: "requests",
    key: "r",
    isOpen: () => reachesOthers("readRequests"),
    view: lazy(async () => (await import("../views/requests/Requests.tsx")).Requests)
  },
  {
    path: "providers",
    name: words.entries.providers,
    icon: "providers",
    key: "p",
    view: lazy(async () => (await import("../views/providers/Providers.tsx")).Providers)
  },
  {
    path: "routing",
    name: words.entries.routing,
    icon: "routing",
    key: "c",
    view: lazy(async () => (await import("../views/routing/Routing.tsx")).Routing)
  },
  {
    path: "keys",
    name: words.entries.keys,
    icon: "keys",
    key: "m",
    isOpen: () => reachesOthers("readKeys"),
    view: lazy(async () => (await import("../views/keys/Keys.tsx")).Keys)
  },
  {
    path: "playground",
    name: words.entries.playground,
    icon: "playground",
    key: "y",
    view: lazy(async () => (await import("../views/playground/Playground.tsx")).Playground)
  },
  {
    path: "inspector",
    name: words.entries.inspector,
    icon: "inspector",
    key: "i",
    view: lazy(async () => (await import("../views/inspector/Inspector.tsx")).Inspector)
  },
  {
    path: "system",
    name: words.entries.system,
    icon: "system",
    key: "s",
    view: lazy(async () => (await import("../views/system/System.tsx")).System)
  }
]

/** The page on which a person allows a login at the command line. It is opened from there, and has no entry. */
export const loginView = lazy(async () => (await import("../views/login/CommandLine.tsx")).CommandLine)

/** The entries that the rights of the current user open. */
export const openEntries = (): ReadonlyArray<Entry> => entries.filter(({ isOpen = isAdministrator }) => isOpen())
