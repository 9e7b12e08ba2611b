// Calls that are made once.

/** The same function, of which only the first call has an effect. */
export function once<Arguments extends unknown[]>(
  call: (...given: Arguments) => void,
): (...given: Arguments) => void {
  let isCalled = false;
  return (...given) => {
    if (isCalled) return;
    isCalled = true;
    call(...given);
  };
}
