/** Returns the result of `make`, computed when it is first asked for. */
export const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | null = null
  return () => (made ??= { value: make() }).value
}
