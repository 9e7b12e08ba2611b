// A function that runs once.

/** Wraps a function so that only the first call runs it. */
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
