from pg_ulid.sqlalchemy import Ulid
from sqlalchemy import create_engine, text
from sqlmodel import Field, Session, SQLModel

class Order(SQLModel, table=True):
    __tablename__ = "orders"
    id: str | None = Field(None, primary_key=True, sa_type=Ulid, sa_column_kwargs={"server_default": text("gen_ulid()")})
    note: str | None = None

with Session(create_engine("postgresql+psycopg://")) as session:
    session.connection().execute(text("CREATE EXTENSION IF NOT EXISTS ulid"))
    SQLModel.metadata.create_all(session.connection())
    session.add(Order(note="first"))
    session.add(Order(id="01aryz6s41tsv4rrffq69g5fav", note="loaded"))
    session.commit()
