// The times that senders write: each day of a calendar, and no other.
import { expect, test } from '@jest/globals';
import { utcTime } from './sent-time.js';

test.each([2024, 2025, 2000, 1900])('every day of %i is a day, and no other is', (year) => {
  for (let month = 0; month <= 13; month += 1)
    for (let day = 0; day <= 32; day += 1) {
      const written = [month, day].map((number) => String(number).padStart(2, '0')).join('-');
      const time = `${String(year)}-${written}T23:59:59.999Z`;
      const found = new Date(Date.UTC(year, month - 1, day));
      const isDay = found.getUTCMonth() === month - 1 && found.getUTCDate() === day;
      expect([time, utcTime(time)]).toEqual([time, isDay ? time : null]);
      const elsewhere = `${String(year)}-${written}T12:00+02:00`;
      const utc = `${String(year)}-${written}T10:00:00.000Z`;
      expect([elsewhere, utcTime(elsewhere)]).toEqual([elsewhere, isDay ? utc : null]);
    }
});
