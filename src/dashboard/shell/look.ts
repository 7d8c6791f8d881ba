/** Sets theme and density before anything is drawn. A script of its own, because it has to run before the style is used. */
const root = document.documentElement

const kept = (name: string): string | null => {
  try {
    return localStorage.getItem(name)
  } catch {
    // Storage is blocked: the look is the system's.
    return null
  }
}

for (const name of ["theme", "density"]) {
  const value = kept(`gateway.${name}`)
  if (value !== null) root.dataset[name] = value
}
