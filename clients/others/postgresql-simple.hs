{-# LANGUAGE OverloadedStrings #-}
-- postgresql-simple; prints the results of its tests.
module Main (main) where

import Control.Exception (handleJust)
import Control.Monad (forM_, guard)
import qualified Data.ByteString as ByteString
import Data.Text (Text, toLower)
import Data.Text.Encoding (decodeUtf8)
import Data.Time (addUTCTime, getCurrentTime)
import Database.PostgreSQL.Simple
import Database.PostgreSQL.Simple.FromField
import Database.PostgreSQL.Simple.ToField
import Database.PostgreSQL.Simple.Types (PGArray (..))

newtype Ulid = Ulid Text deriving (Eq, Show)

instance FromField Ulid where
  fromField field value = do
    name <- typename field
    case value of
      _ | name /= "ulid" -> returnError Incompatible field ""
      Nothing -> returnError UnexpectedNull field ""
      Just text -> pure (Ulid (decodeUtf8 text))

instance ToField Ulid where
  toField (Ulid text) = toField text

check :: (Eq a, Show a) => Int -> String -> a -> a -> IO ()
check number what found wanted
  | found == wanted = putStrLn ("ok " ++ show number ++ " - " ++ what)
  | otherwise = putStrLn ("not ok " ++ show number ++ " - " ++ what ++ ": " ++ show found)

main :: IO ()
main = do
  putStrLn "1..8"
  connection <- connectPostgreSQL ""
  [Only customer] <- query_ connection "INSERT INTO customer (name) VALUES ('Ada') RETURNING id"
  let Ulid text = customer
      insert note = query connection "INSERT INTO orders (customer_id, note) VALUES (?, ?) RETURNING id"
        (Ulid (toLower text), note :: Text)
  [Only first] <- insert "first"
  [Only second] <- insert "second"
  found <- query connection "SELECT id, customer_id, note FROM orders WHERE id = ?" (Only (first :: Ulid))
  check 1 "read" found [(first, Just customer, "first" :: Text)]
  list <- query connection "SELECT id FROM orders WHERE id IN ? ORDER BY note" (Only (In [first, second :: Ulid]))
  check 2 "list" list [Only first, Only second]

  now <- getCurrentTime
  let window = (addUTCTime (-3600) now, addUTCTime 3600 now)
  within <- query connection "SELECT id FROM orders WHERE id <@ tstzrange(?, ?)" window
  check 3 "window" (length (within :: [Only Ulid])) 2

  _ <- execute connection "UPDATE orders SET related = ?::ulid[] WHERE id = ?" (PGArray [second], first)
  [Only (PGArray related)] <- query connection "SELECT related FROM orders WHERE id = ?" (Only first)
  check 4 "array" related [second]

  loaded <- executeMany connection "INSERT INTO orders (id, note) VALUES (?, ?)"
    [(Ulid "01ARYZ6S41TSV4RRFFQ69G5FAV", "third" :: Text), (Ulid "01ARYZ6S41TSV4RRFFQ69G5FAW", "fourth")]
  check 5 "bulk load" loaded 2

  sample <- query_ connection "SELECT note, given FROM sample.given"
  forM_ (sample :: [(Text, Maybe Text)]) $ \(note, given) ->
    handleJust (\thrown -> guard (ByteString.take 2 (sqlState thrown) == "22")) pure $ do
      let into = maybe "INSERT INTO orders (note, customer_id) VALUES (?, ?)" (const "INSERT INTO orders (note, id) VALUES (?, ?)") given
      _ <- execute connection into (note, Ulid <$> given)
      pure ()
  compared <- query_ connection "SELECT sample.compare()"
  check 6 "malformed ids" compared [Only ("equal" :: Text)]

  uncast <- handleJust (\thrown -> guard (sqlState thrown == "42883")) (\() -> pure Nothing) $
    Just <$> query connection "SELECT id FROM orders WHERE id = ANY (?)" (Only (PGArray [first]))
  check 7 "a list without a cast" (uncast :: Maybe [Only Ulid]) Nothing    -- operator does not exist: ulid = text
  plain <- handleJust (\thrown -> case thrown of Incompatible {} -> Just (); _ -> Nothing) (\() -> pure Nothing) $
    Just <$> query_ connection "SELECT id FROM orders"
  check 8 "read as text" (plain :: Maybe [Only Text]) Nothing
